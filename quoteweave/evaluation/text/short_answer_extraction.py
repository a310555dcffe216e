"""Extract a short answer from a long, cited one by rule, where no model is available.

MMLongBench-Doc (arXiv 2407.01523, section 4.1) has a model do this. What is read by rule may differ from what that
model reads, and figures that rest on it are not comparable with published ones.
"""

import json
import re

from quoteweave.core.examples import AnswerFormat
from quoteweave.core.text.marks import parse_marks
from quoteweave.evaluation.text.responses import without_marks

NOT_ANSWERABLE = "Not answerable"

_ABSTENTION = re.compile(
    r"(?:(?:the|this) question )?(?:is |it is )?(?:not answerable|unanswerable|can(?:not|'t| not) be answered)"
    r"(?: (?:from|by|with|in) (?:the|this|these) (?:documents?|quotes|context))?"
)
_MARK = "\ue000"
"""Stands where a mark was; of the private use area, so that it is in no text that people read."""
_SHORT_FORMS = "".join(rf"(?<!\b{short})" for short in ("[A-Z]", "Mr", "Mrs", "Dr", "St", "No", "vs", "Inc", "Fig"))
_END = re.compile(rf"""{_SHORT_FORMS}[.!?…]+["'”’)\]]*+(?:[ \t]*+{_MARK})*+(?=\s++(?![a-z])|\s*+\Z)|\n+""")
_PAGE_IN_BRACKETS = re.compile(r"\s*\([^()]*\b(?:pages?|pp?\.|slides?)\s*\d[^()]*\)", re.IGNORECASE)
_PLACES = r"pages?|pp?\.|slides?|fig(?:ure)?s?\.?|tables?|charts?|sections?|chapters?|parts?|plates?"
_REFERENCE = re.compile(rf"\b(?:{_PLACES})\s*\d++(?:[.–-]\d++)*+(?:\s*(?:,|and|to|of|–|-)\s*\d++\b)*", re.IGNORECASE)
_ASKS_PLACE = re.compile(rf"\b(?:which|what)\s+(?:{_PLACES})(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.–-])[+−-]?[$€£¥]?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?%|\s?per ?cent\b)?(?!\w)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ASKS_TIME = re.compile(r"\b(?:years?|when|dates?)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_BEHIND = re.compile(r" ([^\W\d_]+)(?: ([^\W\d_]+))?")
_COUNTS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905
    if word != "one"  # which is mostly a pronoun
}
_COUNT = re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)
_QUOTED = re.compile(r"“([^“”]{1,300})”|\"([^\"]{1,300})\"")
_ITEM = re.compile(r"^[ \t]*+(?:[-*•–]|\(?\d{1,3}[.)])[ \t]++(\S.*)$", re.MULTILINE)
_BEFORE_ITEMS = re.compile(r":\s|\b(?:are|were|includ(?:e|es|ed|ing)|such as|lists?|namely|consists? of)\b")
_BETWEEN_ITEMS = re.compile(r"\s*[,;]\s*(?:(?:and|or)\b)?\s*|\s+(?:and|or)\s+")
_ITEM_WORDS = 6
"""Of a sentence that is no more than the name of something."""


def is_abstention(text: str) -> bool:
    """Whether a text only states that the question cannot be answered."""
    return _ABSTENTION.fullmatch(" ".join(text.lower().split()).strip(" .!\"'")) is not None


def short_answer(question: str, answer_text: str, answer_format: AnswerFormat) -> str | None:
    """The short answer in a long one, of the format that the question wants; None where there is none of it.

    Read are the sentences that cite, or all where none does, without their marks.

    - `int`, `float`: the only number, or else the first that is not in the question, as it is written. Whole numbers
      go before others, or those with a fraction or a percent sign; then those that count what the question names
      ("4 quays"); of `int`, numbers in words come last. Numbers of pages, figures, tables and the like are none, nor
      are years, unless the question asks for these.
    - `list`: a list of strings in JSON: the items of a bulleted or numbered list, or what is in quotation marks, or
      the parts of an enumeration, or several sentences of a few words; else the one text, as for `str`.
    - `str`, `none`: the first words in quotation marks that the question does not hold, or else the shortest sentence.

    An answer that says that there is none gives `NOT_ANSWERABLE`, whatever the format.
    """
    if is_abstention(without_marks(answer_text)):
        return NOT_ANSWERABLE
    sentences = _cited_sentences(answer_text)
    if answer_format in ("int", "float"):
        return _number(question, sentences, whole=answer_format == "int")
    if answer_format == "list":
        return _list(question, answer_text, sentences)
    return _text(question, sentences)


def _cited_sentences(text: str) -> list[str]:
    marked = _marks_as(_MARK, text)
    sentences, start = [], 0
    for end in [match.end() for match in _END.finditer(marked)] + [len(marked)]:
        sentences.append(marked[start:end])
        start = end
    cited = [sentence for sentence in sentences if _MARK in sentence and sentence.strip(f" \n{_MARK}")]
    plain = (" ".join(sentence.replace(_MARK, " ").split()) for sentence in cited or sentences)
    return [stripped for sentence in plain if (stripped := _stripped(_PAGE_IN_BRACKETS.sub("", sentence)))]


def _marks_as(stand_in: str, text: str) -> str:
    """The text with something else for each mark, the summaries of images included."""
    parts, end = [], 0
    for mark in parse_marks(text):
        parts += [text[end : mark.start].replace(_MARK, ""), stand_in]
        end = mark.end
    return "".join([*parts, text[end:].replace(_MARK, "")])


def _stripped(text: str) -> str:
    """On one line, without the signs that end a sentence or an item."""
    return re.sub(r"\s+(?=[.,;:!?])", "", " ".join(text.split())).strip(" ,;:*").removesuffix(".").rstrip()


def _number(question: str, sentences: list[str], *, whole: bool) -> str | None:
    if not _ASKS_PLACE.search(question):
        sentences = [_REFERENCE.sub(" ", sentence) for sentence in sentences]
    found = [match for sentence in sentences for match in _NUMBER.finditer(sentence)]
    if not _ASKS_TIME.search(question):
        found = [match for match in found if not _YEAR.fullmatch(match[0])]
    kind = [match for match in found if whole == match[0].replace(",", "").lstrip("+−-$€£¥").isdecimal()] or found
    counted = [match for match in kind if _is_counted(match, question)]
    numbers = list(dict.fromkeys(match[0] for match in counted or kind))
    if not numbers and whole:
        numbers = list(dict.fromkeys(_COUNTS[m[0].lower()] for each in sentences for m in _COUNT.finditer(each)))
    asked = {match[0] for match in _NUMBER.finditer(question)}
    unasked = [number for number in numbers if number not in asked]
    return numbers[0] if len(numbers) == 1 else next(iter(unasked), None)


def _is_counted(number: re.Match[str], question: str) -> bool:
    """Whether the question asks for what the number counts: one of the two words behind it, of four letters or more."""
    behind = _BEHIND.match(number.string, number.end())
    words = [word.lower() for word in behind.groups() if word] if behind else []
    return any(len(word) > 3 and word in _WORD.findall(question.lower()) for word in words)


def _list(question: str, text: str, sentences: list[str]) -> str | None:
    if re.fullmatch(r"\s*\[[^\[\]]*\]\s*", text):
        return text.strip()  # a list as it is, such as [14, 15], which looks like a mark
    items = [_stripped(item) for item in _ITEM.findall(_marks_as(" ", text))]
    if len(items) < 2:
        items = _quoted(question, sentences)
    if len(items) < 2:
        items = next((parts for sentence in sentences if len(parts := _enumerated(sentence)) > 1), [])
    if len(items) < 2:
        items = [sentence for sentence in sentences if len(sentence.split()) <= _ITEM_WORDS]
    if len(items) < 2:
        items = [only] if (only := _text(question, sentences)) is not None else []
    return json.dumps(items, ensure_ascii=False) if items else None


def _enumerated(sentence: str) -> list[str]:
    """The parts of what follows the words that open an enumeration; none where there are no such words."""
    opening = _BEFORE_ITEMS.search(sentence)
    parts = _BETWEEN_ITEMS.split(sentence[opening.end() :]) if opening else []
    return [part for raw in parts if (part := _stripped(raw))]


def _text(question: str, sentences: list[str]) -> str | None:
    return next(iter(_quoted(question, sentences)), None) or min(sentences, key=len, default=None)


def _quoted(question: str, sentences: list[str]) -> list[str]:
    """What stands in quotation marks and not in the question."""
    found = (_stripped(match[1] or match[2]) for each in sentences for match in _QUOTED.finditer(each))
    return [words for words in found if words and words.lower() not in question.lower()]
