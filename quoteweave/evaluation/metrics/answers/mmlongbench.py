"""MMLongBench-Doc (arXiv 2407.01523, section 4.1): accuracy and F1 of short answers, unanswerable questions included.

Short answers are extracted from cited ones by rule, and matched with gold by the rules of the paper, in which a model
extracts them. The rule may extract another answer than that model, so figures that depend on it are not comparable with
published ones. The answer formats of the dataset are a breakdown.

The matching follows the rules in the paper rather than the authors' code, which differs in these points: it also treats
two decimals as equal if they agree once rounded to at least two places; it decides for a whole list, by the first of
its sorted items, whether all items are compared exactly, and then as texts; and it compares only dates in digits
exactly.
"""

import ast
import json
import math
import re
from typing import TYPE_CHECKING

from quoteweave.core.examples import AnswerFormat, Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.marks import parse_marks
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.abstentions import is_abstention
from quoteweave.evaluation.text.responses import MarkGrammar, scored_text, without_marks

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums


NOT_ANSWERABLE = "Not answerable"

_MARK = "\ue000"
"""Replaces a mark; it is in the private use area, so that it does not occur in texts for people."""
_SHORT_FORMS = "".join(rf"(?<!\b{short})" for short in ("[A-Z]", "Mr", "Mrs", "Dr", "St", "No", "vs", "Inc", "Fig"))
_END = lazy_regex(rf"""{_SHORT_FORMS}[.!?…]+["'”’)\]]*+(?:[ \t]*+{_MARK})*+(?=\s++(?![a-z])|\s*+\Z)|\n+""")
_PAGE_IN_BRACKETS = lazy_regex(r"\s*\([^()]*\b(?:pages?|pp?\.|slides?)\s*\d[^()]*\)", re.IGNORECASE)
_PLACES = r"pages?|pp?\.|slides?|fig(?:ure)?s?\.?|tables?|charts?|sections?|chapters?|parts?|plates?"
_REFERENCE = lazy_regex(rf"\b(?:{_PLACES})\s*\d++(?:[.–-]\d++)*+(?:\s*(?:,|and|to|of|–|-)\s*\d++\b)*", re.IGNORECASE)
_ASKS_PLACE = lazy_regex(rf"\b(?:which|what)\s+(?:{_PLACES})(?!\w)", re.IGNORECASE)
_WRITTEN_NUMBER = lazy_regex(r"(?<![\w.–-])[+−-]?[$€£¥]?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?%|\s?per ?cent\b)?(?!\w)")
_YEAR = lazy_regex(r"(?:19|20)\d\d")
_ASKS_TIME = lazy_regex(r"\b(?:years?|when|dates?)\b", re.IGNORECASE)
_WORD = lazy_regex(r"[^\W\d_]+")
_WORDS_AFTER = lazy_regex(r" ([^\W\d_]+)(?: ([^\W\d_]+))?")
_NUMBERS_BY_WORD = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905
    if word != "one"  # "one" is mostly a pronoun
}
_NUMBER_WORD = lazy_regex(rf"\b(?:{'|'.join(_NUMBERS_BY_WORD)})\b", re.IGNORECASE)
_QUOTED = lazy_regex(r"“([^“”]{1,300})”|\"([^\"]{1,300})\"")
_ITEM = lazy_regex(r"^[ \t]*+(?:[-*•–]|\(?\d{1,3}[.)])[ \t]++(\S.*)$", re.MULTILINE)
_BEFORE_ITEMS = lazy_regex(r":\s|\b(?:are|were|includ(?:e|es|ed|ing)|such as|lists?|namely|consists? of)\b")
_BETWEEN_ITEMS = lazy_regex(r"\s*[,;]\s*(?:(?:and|or)\b)?\s*|\s+(?:and|or)\s+")
_ITEM_WORDS = 6
"""The most words of a sentence that is no more than the name of something."""


def short_answer(question: str, answer_text: str, answer_format: AnswerFormat) -> str | None:
    """The short answer in a long one, in the format that the question requires; None if there is none.

    The sentences that cite are read, or all if none does, without their marks.

    - `int`, `float`: the only number, or else the first that is not in the question, as written. Whole numbers are
    preferred for `int`, those with a fraction or a percent sign for `float`; then those that count what the question
    names ("4 quays"); for `int`, numbers in words come last. Numbers of pages, figures, tables and the like are
    ignored, and so are years, unless the question asks for these.
    - `list`: a list of strings in JSON: the items of a bulleted or numbered list, or what is in quotation marks, or
      the parts of an enumeration, or several sentences of a few words; else the one text, as for `str`.
    - `str`, `none`: the first words in quotation marks that are not in the question, or else the shortest sentence.

    An answer that says that the question has none gives `NOT_ANSWERABLE`, whatever the format.
    """
    if is_abstention(without_marks(answer_text)):
        return NOT_ANSWERABLE
    sentences = _cited_sentences(answer_text)
    if answer_format in ("int", "float"):
        return _read_number(question, sentences, integers=answer_format == "int")
    if answer_format == "list":
        return _read_list(question, answer_text, sentences)
    return _read_text(question, sentences)


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
    """The text with a replacement for each mark, including the summaries of images."""
    parts, end = [], 0
    for mark in parse_marks(text):
        parts += [text[end : mark.start].replace(_MARK, ""), stand_in]
        end = mark.end
    return "".join([*parts, text[end:].replace(_MARK, "")])


def _stripped(text: str) -> str:
    """The text on one line, without the signs that end a sentence or an item."""
    return re.sub(r"\s+(?=[.,;:!?])", "", " ".join(text.split())).strip(" ,;:*").removesuffix(".").rstrip()


def _read_number(question: str, sentences: list[str], *, integers: bool) -> str | None:
    if not _ASKS_PLACE.search(question):
        sentences = [_REFERENCE.sub(" ", sentence) for sentence in sentences]
    matches = [match for sentence in sentences for match in _WRITTEN_NUMBER.finditer(sentence)]
    if not _ASKS_TIME.search(question):
        matches = [match for match in matches if not _YEAR.fullmatch(match[0])]
    kind = [
        match for match in matches if integers == match[0].replace(",", "").lstrip("+−-$€£¥").isdecimal()
    ] or matches
    counted = [match for match in kind if _is_counted(match, question)]
    numbers = list(dict.fromkeys(match[0] for match in counted or kind))
    if not numbers and integers:
        number_words = (word.lower() for sentence in sentences for word in _NUMBER_WORD.findall(sentence))
        numbers = list(dict.fromkeys(map(_NUMBERS_BY_WORD.__getitem__, number_words)))
    question_numbers = {match[0] for match in _WRITTEN_NUMBER.finditer(question)}
    new_numbers = [number for number in numbers if number not in question_numbers]
    return numbers[0] if len(numbers) == 1 else next(iter(new_numbers), None)


def _is_counted(number: re.Match[str], question: str) -> bool:
    """Whether the question asks for what the number counts: one of the two words after it, of four letters or more."""
    behind = _WORDS_AFTER.match(number.string, number.end())
    words = [word.lower() for word in behind.groups() if word] if behind else []
    return any(len(word) > 3 and word in _WORD.findall(question.lower()) for word in words)


def _read_list(question: str, text: str, sentences: list[str]) -> str | None:
    if re.fullmatch(r"\s*\[[^\[\]]*\]\s*", text):
        return text.strip()  # a list, such as [14, 15], looks like a mark and stays
    items = [_stripped(item) for item in _ITEM.findall(_marks_as(" ", text))]
    if len(items) < 2:
        items = _quoted(question, sentences)
    if len(items) < 2:
        items = next((parts for sentence in sentences if len(parts := _enumerated(sentence)) > 1), [])
    if len(items) < 2:
        items = [sentence for sentence in sentences if len(sentence.split()) <= _ITEM_WORDS]
    if len(items) < 2:
        items = [only] if (only := _read_text(question, sentences)) is not None else []
    return json.dumps(items, ensure_ascii=False) if items else None


def _enumerated(sentence: str) -> list[str]:
    """The parts of what follows the words that introduce an enumeration; none without such words."""
    opening = _BEFORE_ITEMS.search(sentence)
    parts = _BETWEEN_ITEMS.split(sentence[opening.end() :]) if opening else []
    return [part for raw in parts if (part := _stripped(raw))]


def _read_text(question: str, sentences: list[str]) -> str | None:
    return next(iter(_quoted(question, sentences)), None) or min(sentences, key=len, default=None)


def _quoted(question: str, sentences: list[str]) -> list[str]:
    """The texts in quotation marks that are not in the question."""
    quotations = (_stripped(match[1] or match[2]) for sentence in sentences for match in _QUOTED.finditer(sentence))
    return [words for words in quotations if words and words.lower() not in question.lower()]


THRESHOLD = 0.5
"""A similarity that is not above this counts as 0."""
TOLERANCE = 0.01
"""The relative tolerance for decimal numbers."""

_BRACKET_PAIRS = {"(": ")", "[": "]", "{": "}"}
_QUOTES = "\"'“”‘’«»`"
_IN_BRACKETS = lazy_regex(r"\s*\([^()]*\)")
_SIGNS = lazy_regex(r"[%$€£¥₹,\s~≈]")
_UNIT = lazy_regex(r"(?<=[\d.])[^\W\d_]+(?:/[^\W\d_]+)?\Z")
_NUMBER = lazy_regex(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_EXACT = lazy_regex(
    rf"""
      .*(?:https?://|www\.).*                                                                     # links
    | \S+\.(?:py|ipynb|pdf|docx?|xlsx?|pptx?|csv|json|txt|md|html?|xml|png|jpe?g)                 # file names
    | [\w.%+-]+@[\w-]+(?:\.[\w-]+)+                                                               # email addresses
    | (?:pages?|pp?\.?|slides?|fig(?:ure)?s?\.?|tables?|sections?|chapters?)[ ]?\d[\d.,\s-]*      # pages and the like
    | [+(]?\d[\d\s().,/:+-]*                                      # numbers, those of telephones, dates and times too
    | .*(?:\b[ap]\.m\.|\d\s?[ap]m\b).*                                                            # times of day
    | (?=.*\d)(?:\d{{4}}[ ])?(?:{_DAY}[ ])?(?:of[ ])?{_MONTH}(?:[ ]{_DAY})?(?:,?[ ]\d{{4}})?       # dates
    """,
    re.VERBOSE | re.DOTALL,
)


def short_answer_score(gold: str, predicted: str, answer_format: AnswerFormat) -> float:
    """How far the predicted short answer agrees with the gold one, 0 to 1.

    - `int`: 1 if both are the same whole number; decimals of the prediction are cut off.
    - `float`: 1 if they differ by at most 1 %, with the prediction as given, as a percentage or as a fraction.
    - `str`: for dates, links, file names, numbers and the like, 1 if they are the same, else 0; for other texts their
    similarity (`anls`). Case, quotation marks, brackets with their content, and signs of currencies and percent are
    ignored.
    - `list`: the least agreement of any two items, with both lists sorted; 0 if one is longer. Numbers agree if they
    are equal, other items as for `str`. A text that is not a list is a list of one item.

    A gold `int` or `float` that is not a number is compared as `str`, and so is everything of the format `none`.
    """
    if answer_format == "list":
        return _list_score(gold, predicted)
    gold_number = _number(gold, units=True) if answer_format in ("int", "float") else None
    if gold_number is None:
        return _text_score(_clean(gold), _clean(predicted))
    predicted_number = _number(predicted, units=True)
    if predicted_number is None:
        return 0.0
    if answer_format == "int":
        return float(int(predicted_number) == int(gold_number))
    forms = (gold_number, gold_number / 100, gold_number * 100)
    return float(any(math.isclose(predicted_number, form, rel_tol=TOLERANCE) for form in forms))


def anls(first: str, second: str) -> float:
    """The similarity of two texts: 1 less the Levenshtein distance as a share of the longer; 0 if not above 0.5.

    Biten et al., Scene Text Visual Question Answering, 2019, section 4.3, for one pair; 1 for two empty texts. The time
    grows with the product of their lengths; a text at most half as long as the other is decided at once.
    """
    longer = max(len(first), len(second))
    if first == second:
        return 1.0
    if abs(len(first) - len(second)) >= (1 - THRESHOLD) * longer:
        return 0.0
    similarity = 1 - edit_distance(first, second) / longer
    return similarity if similarity > THRESHOLD else 0.0


def edit_distance(first: str, second: str) -> int:
    """The least number of inserted, deleted or replaced characters that turns one text into the other (Levenshtein)."""
    row = list(range(len(second) + 1))
    for position, character in enumerate(first, start=1):
        above, row = row, [position]
        for column, other in enumerate(second, start=1):
            row.append(min(above[column] + 1, row[-1] + 1, above[column - 1] + (character != other)))
    return row[-1]


def _list_score(gold: str, predicted: str) -> float:
    predicted_items, gold_items = (sorted(map(_clean, _items(text)), key=_sort_key) for text in (predicted, gold))
    if len(predicted_items) != len(gold_items):
        return 0.0
    return min(map(_text_score, gold_items, predicted_items), default=1.0)


def _items(text: str) -> list[str]:
    """The items of a list in JSON or Python notation; any other text is the only item. Nothing is executed."""
    if text.strip().startswith("["):
        for parse in (json.loads, ast.literal_eval):
            try:
                value = parse(text.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(value, list):
                return [str(item) for item in value]
    return [text]


def _sort_key(text: str) -> tuple[float, str]:
    """Sort key: numbers by their value, before texts."""
    number = _number(text, units=False)
    return (math.inf if number is None else number), text


def _text_score(gold: str, predicted: str) -> float:
    """The agreement of two cleaned texts."""
    gold_number, predicted_number = _number(gold, units=False), _number(predicted, units=False)
    if gold_number is not None and predicted_number is not None:
        return float(gold_number == predicted_number)
    if _EXACT.fullmatch(gold):
        return float(gold == predicted)
    return anls(gold, predicted)


def _clean(text: str) -> str:
    """The text in lower case on one line, without what is ignored."""
    cleaned = " ".join(text.lower().split()).strip(_QUOTES)
    while len(cleaned) > 1 and _BRACKET_PAIRS.get(cleaned[0]) == cleaned[-1]:
        inner = cleaned[1:-1]
        if cleaned[0] in inner or cleaned[-1] in inner:
            break
        cleaned = inner.strip(f"{_QUOTES} ")
    without = _IN_BRACKETS.sub("", cleaned).strip()
    return (without or cleaned).lstrip("$€£¥ ").rstrip("% ")


def _number(text: str, *, units: bool) -> float | None:
    """The number that the text is, ignoring percent and currency signs, and with `units` a unit after it; else None."""
    bare = _SIGNS.sub("", text.strip(_QUOTES + " ")).replace("−", "-")
    if not _NUMBER.fullmatch(bare) and units:
        bare = _UNIT.sub("", bare)
    if not _NUMBER.fullmatch(bare):
        return None
    value = float(bare)
    return value if math.isfinite(value) else None


_F1_COLUMNS = ("mmlongbench.score", "mmlongbench.answerable", "mmlongbench.answered")


def _f1(sums: "Sums") -> "Sums":
    """2 Σ score / (Σ answerable + Σ answered), which is the harmonic mean of recall and precision."""
    _, score, answerable, answered = sums
    f1: Sums = 2 * score / (answerable + answered) * (answerable / answerable)  # 0 / 0 if no question can be answered
    return f1


class MMLongBench:
    """`mmlongbench.accuracy`, `.recall`, `.precision` and `.f1.pooled` (Ma et al., arXiv 2407.01523, section 4.1).

    A question that can be answered scores what `short_answer_score` gives for the short answer that `short_answer`
    extracts from the response, or 0 if there is none; a question that cannot be answered scores 1 if it was not
    answered, else 0. Whether it was answered is decided by the answer's outcome, or by a response that says so itself.
    With these scores,

        accuracy   mean over all questions
        recall     mean over the questions that can be answered
        precision  sum of the scores of questions that can be answered / number of questions that were answered
        f1         harmonic mean of recall and precision

    In the paper a model extracts the short answers from responses, so its figures are not comparable with these.
    Undefined without a response, and for examples without an answer format; recall and F1 also without a question that
    can be answered, precision without one that was answered.
    """

    name = "mmlongbench"
    aggregates: tuple[Aggregate, ...] = (
        mean_of("mmlongbench.accuracy"),
        mean_of("mmlongbench.recall"),
        mean_of("mmlongbench.precision"),
        Aggregate("mmlongbench.f1.pooled", _F1_COLUMNS, _f1),
    )

    def __init__(self, marks: MarkGrammar) -> None:
        self._marks = marks

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`score` is 0 where the question cannot be answered; `answerable` and `answered` are 0 or 1."""
        reference = example.reference
        answerable, gold = reference.answer_format != "none", reference.short_answer
        if prediction.response is None or reference.answer_format is None or (answerable and gold is None):
            return {}
        answer = self._short_answer(prediction, example)
        answered = answer != NOT_ANSWERABLE
        score = 0.0
        if answerable and answered and answer is not None:
            score = short_answer_score(gold or "", answer, reference.answer_format)
        return {
            "mmlongbench.accuracy": score if answerable else float(not answered),
            "mmlongbench.recall": score if answerable else None,
            "mmlongbench.precision": score if answered else None,
            "mmlongbench.score": score,
            "mmlongbench.answerable": float(answerable),
            "mmlongbench.answered": float(answered),
        }

    def _short_answer(self, prediction: Prediction, example: Example) -> str | None:
        """The short answer, or NOT_ANSWERABLE; None if the answer contains no short one."""
        if prediction.answer is not None and prediction.answer.status != "answered":
            return NOT_ANSWERABLE
        text = scored_text(prediction, self._marks, marks_kept=True) or ""
        return short_answer(example.query.text, text, example.reference.answer_format or "str")
