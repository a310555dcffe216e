"""Tokenise English text as the Penn Treebank and nltk's NLTKWordTokenizer do.

Written here so that nltk is needed by tests alone, which compare every token with it.

Each rule makes spaces around what is a token of its own; the order matters, for later rules see the spaces of earlier
ones. Opening double quotes become `` and closing ones ''. A text is taken as one sentence: only a full stop at its very
end is a token, and others stay with their words, as nltk does with text that was not split into sentences.
"""

import re
from collections.abc import Callable

Change = str | Callable[[re.Match[str]], str]

_APART = r" \g<0> "
_CLITIC = "(?:re|ve|ll|m|t|s|d|n)"
_RULES: tuple[tuple[re.Pattern[str], Change], ...] = tuple(
    (re.compile(pattern), change)
    for pattern, change in (
        ('\\A"|[«“‘„]|``|`', lambda match: " `` " if match[0] == '"' else f" {match[0]} "),
        (r"""(?<=[ (\[{<])(?:"|'')""", " `` "),
        (rf"(?i)(?<!\w)'(?!{_CLITIC}\b)(?=\w)", "' "),
        (r"""(?<=[^.])\.(?=[\])}>"'»”’ ]*+\s*$)""", _APART),
        (r"([:,])(\D)", r" \1 \2"),  # not in 3,141 and 10:40
        (r"[:,]$", _APART),
        (r"\.{2,}|[;@#$%&?!\u2012-\u2015]", _APART),
        (r"(?<=[^'])'(?= )", " '"),
        (r"[*\[\](){}<>]|--", _APART),
        (r"\A|\Z", " "),
        ("[»”’]|''|\"", lambda match: " '' " if match[0] == '"' else f" {match[0]} "),
        (r"\s+", " "),
        (r"([^' ])('[sSmMdD]?) ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        (
            r"(?i)\b(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)|wan(?=na\s))"
            r"(not|'ye|me|na|ta|'n)\b",
            r" \1 \2 ",
        ),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
)


def treebank_tokens(text: str) -> list[str]:
    """The tokens of `text`, case kept."""
    for pattern, change in _RULES:
        text = pattern.sub(change, text)
    return text.split()
