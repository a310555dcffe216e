"""Split compound questions into their parts by rule, without a model.

A question is split between sentences, at semicolons, and where a second question or command is joined to a first ("…,
and how does …", "… and explain …"); lists with "respectively" are distributed. It is split only where both sides can be
understood as a question or a command and have enough words to search for: two, or one where nothing points back ("it",
"this") and each side has its own question word. Names and numbers joined by "and", phrases with "between", relative
clauses, quotations, brackets and sentences that ask nothing are not separated. Questions that end in a question mark
are recognised in any language, joined ones in English.
"""

import re
from collections.abc import Callable, Sequence

from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import Expansion
from quoteweave.core.records import Filter, Query
from quoteweave.core.text.tokens import words

# Longest question that is split, in characters.
MAX_QUESTION_CHARACTERS = 2000

_QUESTION_WORDS = "what|which|who|whom|whose|how|when|where|why"
_PREPOSITIONS = "about|at|by|for|from|in|of|on|to|under|with"
_AUXILIARIES = "is|are|was|were|do|does|did|has|have|had|can|could|will|would|should"
_PRONOUN = "he|her|hers|him|his|it|its|she|that|their|theirs|them|there|these|they|this|those"
_COMMANDS = "calculate|compare|compute|describe|determine|explain|identify|summari[sz]e"
# Often nouns: they open a command, but after "and" they are no sign that a second one begins.
_AMBIGUOUS_COMMANDS = "define|estimate|find|list|name|outline"

_PROTECTED = lazy_regex(
    r"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“]+“|(?<!\w)['‘][^'’]+['’](?!\w)|\([^()]+\)|\[[^\[\]]+\]",
)
_QUESTION_MARKS = ("?", "？", "؟")
# A full stop ends a sentence only after a longer word or a number: shorter words are often abbreviations.
_SENTENCE_END = lazy_regex(
    r"(?:(?<=[?!;؟])\s+|(?<=[？！。；])\s*|(?:(?<=[^\W\d_]{5}\.)|(?<=\d\d\.))\s+(?=[A-ZÀ-Þ]))"
    r"(?:(?i:and|but|also|then)\b,?\s+)?"
)
_JOINT = lazy_regex(
    r",?\s+(?:(?:and|but)(?:\s+(?:also|then))?|then|as\s+well\s+as),?\s+"
    rf"(?=(?:(?:{_PREPOSITIONS})\s+)?(?:{_QUESTION_WORDS})\s|(?:do|does|did)\s|(?:{_AUXILIARIES})\s+(?:{_PRONOUN})\s|(?:{_COMMANDS})\s)"
    r"|,\s+(?=(?:what|how)\s)"
)
_OPENING = lazy_regex(rf"(?:(?:{_PREPOSITIONS})\s+)?({_QUESTION_WORDS})\b(\s+(?:{_AUXILIARIES})\b)?", re.IGNORECASE)
# Within a question only lower case counts: a capital begins a name, as in "Will".
_ASKS = lazy_regex(
    rf"(?:please\s+)?(?:(?:(?:{_PREPOSITIONS})\s+)?(?:what|which|whose|whom|how)\s(?=(?:.*\s)?(?-i:{_AUXILIARIES})\s)|who\s"
    rf"|(?:when|where|why)\s+(?:{_AUXILIARIES})\s|(?:{_AUXILIARIES}|{_COMMANDS}|{_AMBIGUOUS_COMMANDS})\s)",
    re.IGNORECASE,
)
_POINTING_BACK = lazy_regex(rf"\b(?:(?!there\b)(?:{_PRONOUN})|one|ones|same|both|each|other|so)\b", re.IGNORECASE)
# "Between what was planned and …": the left side is incomplete.
_INCOMPLETE = lazy_regex(r"\b(?:between|both)\b(?!.*\band\b)", re.IGNORECASE)
_DEFINITION = lazy_regex(rf"(?:what|who|where)\s+(?:is|are|was|were)\s(?!.*\b(?:the|{_PRONOUN})\b)", re.IGNORECASE)

_RESPECTIVELY = lazy_regex(r",?\s+respectively\b,?", re.IGNORECASE)
_WORD = r"[A-Z0-9](?:[\w%&'’/-]|[.,](?=\w))*"
_ITEM = rf"(?:the\s+)?(?:\"[^\"]+\"|“[^”]+”|{_WORD}(?:\s+{_WORD})*)"
_LIST = lazy_regex(rf"(?<=\s){_ITEM}(?:,\s+{_ITEM})*,?\s+and\s+{_ITEM}")


class ClauseSplitter:
    """Implements `core.protocols.Expander`: the question itself, then its parts if there are 2 to `most`.

    Raises UsageError for `most` below 2.
    """

    name = "rules"

    def __init__(self, *, most: int = 6) -> None:
        if most < 2:
            raise UsageError(f"a question cannot be cut into {most} parts; allow two or more")
        self._most = most

    async def expand(self, query: Query, *, where: Filter | None = None) -> Expansion:  # noqa: ARG002
        """Return the question and its parts; the question alone if it has one part or, with a note, too many."""
        parts = split_question(query.text)
        if len(parts) == 1:
            return Expansion(clauses=(query.text,))
        if len(parts) > self._most:
            note = f"The question was searched for as a whole: its {len(parts)} parts are more than {self._most}."
            return Expansion(clauses=(query.text,), note=note)
        return Expansion(clauses=tuple(dict.fromkeys([query.text, *parts])))


def split_question(text: str) -> list[str]:
    """Split a question into its parts, in order; if longer than `MAX_QUESTION_CHARACTERS`, it stays whole."""
    line = " ".join(text.split())
    if len(line) > MAX_QUESTION_CHARACTERS:
        return [text]
    sentences = _split_at(
        line, _SENTENCE_END, lambda before, after: _is_self_contained(before) and _is_self_contained(after)
    )
    clauses = [clause for sentence in sentences for clause in _split_at(sentence, _JOINT, _are_two_questions)]
    parts = [part for clause in clauses for part in _distribute_respectively(clause)]
    return parts if len(parts) > 1 else [text]


def _split_at(text: str, marks: re.Pattern[str], are_separate: Callable[[str, str], bool]) -> list[str]:
    """Split `text` at marks outside quotations and brackets, wherever `are_separate` holds of the two sides."""
    protected = [match.span() for match in _PROTECTED.finditer(text)]
    spans = [match.span() for match in marks.finditer(text)]
    cuts = [span for span in spans if not any(start < span[0] < end for start, end in protected)]
    edges = [0, *(edge for span in cuts for edge in span), len(text)]
    part_spans: list[tuple[int, int]] = [(edges[0], edges[1])]
    for start, end in zip(edges[2::2], edges[3::2], strict=True):
        start_of_part = part_spans[-1][0]
        if are_separate(text[start_of_part : part_spans[-1][1]], text[start:end]):
            part_spans.append((start, end))
        else:
            part_spans[-1] = (start_of_part, end)
    return [text[start:end].strip(" ,;") for start, end in part_spans]


def _is_self_contained(sentence: str) -> bool:
    """Whether a sentence can be searched for by itself; one that asks nothing qualifies another and cannot."""
    if not sentence.endswith(_QUESTION_MARKS):
        return _is_full_question(sentence)
    return _is_full_question(sentence) or _is_short_question(sentence) or len(words(sentence)) >= 3


def _is_short_question(clause: str) -> bool:
    """Whether a question has at least one word to search for, and does not refer back to another question."""
    return _ASKS.match(clause) is not None and len(words(clause)) >= 1 and not _POINTING_BACK.search(clause)


def _is_full_question(clause: str) -> bool:
    """Whether a clause is a question or a command with enough words of its own to be searched for."""
    return _ASKS.match(clause) is not None and len(words(clause)) >= (1 if _DEFINITION.match(clause) else 2)


def _are_two_questions(first_clause: str, second_clause: str) -> bool:
    if _is_relative_clause(first_clause, second_clause) or _INCOMPLETE.search(first_clause):
        return False
    if _is_full_question(first_clause) and _is_full_question(second_clause):
        return True
    # "What is the capital and what is the population of Chad?" has its object at the end, for both.
    first, second = _OPENING.match(first_clause), _OPENING.match(second_clause)
    have_own_question_words = first is not None and second is not None and first[1].lower() != second[1].lower()
    return have_own_question_words and all(
        _is_full_question(clause) or _is_short_question(clause) for clause in (first_clause, second_clause)
    )


def _is_relative_clause(first_clause: str, second_clause: str) -> bool:
    """Whether the second clause continues a relative clause of the first: "the town where … and where …"."""
    question_opening, opening = _OPENING.match(second_clause), _OPENING.match(first_clause)
    if question_opening is None:
        return False
    word, first = question_opening[1].lower(), opening[1].lower() if opening else None
    rest_of_first = first_clause[opening.end(1) :] if opening else first_clause
    repeated = re.search(rf"\b{word}\b", rest_of_first, re.IGNORECASE) is not None
    return repeated or (word in ("which", "who", "whom", "whose") and question_opening[2] is not None and word != first)


def _distribute_respectively(clause: str) -> list[str]:
    """Distribute a clause with "respectively" over the items of its lists, where those are certain."""
    plain, count = _RESPECTIVELY.subn("", clause)
    lists = [re.findall(_ITEM, list_text) for list_text in _LIST.findall(plain)]
    text_around = _LIST.sub("", plain)
    if not count or len(set(map(len, lists))) != 1 or re.search(r"\b(?:and|between)\b", text_around, re.IGNORECASE):
        return [clause]
    return [_replace_lists(plain, list_items) for list_items in zip(*lists, strict=True)]


def _replace_lists(text: str, list_items: Sequence[str]) -> str:
    """Replace each list in `text` by one item."""
    items_left = iter(list_items)
    return _LIST.sub(lambda _: next(items_left), text)
