"""Make text of documents fit for an answer: on one line, not too long, and without anything that looks like a mark."""

import re
from collections.abc import Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.marks import parse_marks

_WIDE = "[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uff60]"
_HYPHENATED = lazy_regex(r"(?<=[^\W\d_])[-\u2010\u00ad][^\S\n]*+\n\s*+(?=[^\W\d_])")
_WIDE_BREAK = lazy_regex(rf"(?<={_WIDE})[^\S\n]*+\n\s*+(?={_WIDE})")
# Symbol fonts encode bullets in Unicode's private use area.
_BULLET = lazy_regex(r"^\s*+(?:[\uf000-\uf0ff•◦▪■●‣⁃·*–—-]|\(?(?:\d{1,3}[.)]|[a-z]\)))\s+")
_CLAUSE = lazy_regex(r"[,;:](?=\s)|\s[–—-](?=\s)|[，；、]")
_FINAL_STOP = lazy_regex(r"(?<![.!?])[.!?。！？]$|[:：]$")
# A paragraph after a colon is code if it begins with a prompt or a lower-case letter, or has characters that prose
# lacks, and does not end with a full stop.
_CODE = lazy_regex(r"^\s*(?:[$>#%@/~.<{(\[]|[a-z]\S*\s|[a-z]+$)|[={}<>;|\\]|\w\(|(?:^|\s)--?\w|\w[_/]\w|::")
_LETTERS = lazy_regex(r"[^\W\d_]{2}")
MIN_IN_CODE = 2
"""The least number of marks that prose lacks, such as brackets or final semicolons, in text that is plainly code."""
_TYPED = lazy_regex(r"\[-{1,2}\w")
_IN_CODE = lazy_regex(r"[{}]|;\s*(?:$|\n)|::|\w\(\w*\)|^\s*[$>]\s", re.MULTILINE)
# "% of sales" and "# of items" begin with no prompt, and "% flash -e" does.
_PROMPT = lazy_regex(r"\s*(?:[$>]\s+\w|[%#]\s+[a-z][\w-]*\s(?:[\w./:=-]+\s){0,9}?--?[a-zA-Z])")
# A sentence behind ">" as its bullet: "> Do not use the machine outdoors."
_BULLETED = lazy_regex(r"\s*>\s+[A-ZÀ-Þ][\w'’-]*[,;:]?\s+[^\W\d_][^={}<\[\]]*[.!?]\s*$")
_PROSE_END = lazy_regex(r"[.!?…:。！？：][\"'”’»)\]]*\s*$")


def tidy(text: str, limit: int) -> str:
    """Put `text` on one line of at most `limit` characters: join hyphenated words, drop bullets and marks."""
    joined = _WIDE_BREAK.sub("", _HYPHENATED.sub(_join, text)) if "\n" in text else text
    return escape_marks(clip(" ".join(_BULLET.sub("", joined).split()).lstrip(" ,;"), limit))


def _join(match: re.Match[str]) -> str:
    # A capital after the break means that the hyphen belongs to the word, as in "Anglo-\nSaxon".
    following = match.string[match.end()]
    return "" if following.islower() else "-"


def clip(text: str, limit: int) -> str:
    """Shorten `text` to `limit` characters, cut after a clause or a word, with "…"."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    clauses = [match.start() for match in _CLAUSE.finditer(head) if match.start() >= limit // 2]
    at = clauses[-1] if clauses else text.rfind(" ", limit // 2, limit)
    return (head[:at] if at > 0 else head).rstrip() + "…"


def escape_marks(text: str) -> str:
    """Neutralise whatever in `text` could be mistaken for an answer's mark, or hide one.

    References such as `[12]` become `(12)`, `![` loses its exclamation mark, and back-ticks, between which marks are
    not read, become apostrophes.
    """
    plain = text.replace("`", "'")
    if "[" not in plain:
        return plain
    plain = re.sub(r"!+(?=\[)", "", plain)
    for mark in reversed(parse_marks(plain)):
        plain = f"{plain[: mark.start]}({mark.mark[1:-1]}){plain[mark.end :]}"
    return plain


def add_mark(sentence: str, mark: str) -> str:
    """Put a mark before the full stop or colon of `sentence`: `Dues rose [2].`; a stop is added where there is none."""
    stop = _FINAL_STOP.search(sentence)
    if stop:
        return f"{sentence[: stop.start()].rstrip()} {mark}{stop[0]}"
    return f"{sentence} {mark}" + ("" if sentence.endswith((".", "…", "!", "?")) else ".")


def is_code(text: str) -> bool:
    """Whether a paragraph that a text introduces ("run:") looks like code, a command or an address, not like prose."""
    has_letters = _LETTERS.search(text) is not None  # a "$" alone is left over from a table
    return has_letters and _PROSE_END.search(text) is None and _CODE.search(text) is not None


def is_plainly_code(text: str) -> bool:
    """Whether a text is code wherever it stands: it begins with a prompt, or has several marks that prose lacks.

    So is a line on how a command is typed: "git clean [-d] [-f]".
    """
    begins_with_prompt = _PROMPT.match(text) is not None and _BULLETED.match(text) is None
    return (
        begins_with_prompt
        or len(_TYPED.findall(text)) >= MIN_IN_CODE
        or (is_code(text) and len(_IN_CODE.findall(text)) >= MIN_IN_CODE)
    )


def fence(code: str, most: int) -> str:
    """Put code between fences so that none of its lines closes them; lines beyond `most` are left out, with "…"."""
    lines = code.replace("```", "'''").strip("\n").splitlines()
    return "\n".join(["```", *(line.rstrip() for line in lines[:most]), *(["…"] if len(lines) > most else []), "```"])


def join_with_and(items: Sequence[str]) -> str:
    """Join items as a list in English: `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)
