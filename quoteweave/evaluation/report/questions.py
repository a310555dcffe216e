"""The questions that a run answers worst and best, with response, cited quotes and gold quotes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pydantic import Field

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.pictures import UnfitPicture, encode_picture, load_pixels, open_picture, to_data_url
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import shorten
from quoteweave.core.records import Kind, Quote, Record
from quoteweave.evaluation.metrics.gold import KINDS, Gold, gold_of
from quoteweave.evaluation.report.labels import label, unit, written
from quoteweave.evaluation.report.runs import RunReport
from quoteweave.evaluation.scoring.scores import ScoredQuestion
from quoteweave.evaluation.text.responses import MarkGrammar, answer_of, citations

SHOWN = 5
"""How many questions are shown at each end."""
MAX_CHARACTERS = 6_000
"""The most characters of a response or a quote that are shown."""
_PLACE = lazy_regex(r"(text|image)(\d+)")

RIGHT = "cited, and gold"

Place = tuple[Kind, int]
"""Kind and number, as in marks."""
PictureReader = Callable[[str | None], str | None]
"""Converts the name of a quote's stored crop to a data URL; None if there is no such file."""


class ShownQuote(Record):
    """A quote that is gold or cited, or both."""

    name: str = Field(description="such as 'text 3'")
    verdict: str
    right: bool = Field(description="cited and gold")
    where: str = Field(description="document and page, empty where the dataset does not say")
    words: str
    picture: str | None = Field(description="data URL")


class ShownQuestion(Record):
    """One question with its answer."""

    id: str
    question: str
    scores: str
    gold: str
    gold_answer: str | None
    cited: str
    response: str | None = Field(description="None where only quotes were retrieved")
    cut: int = Field(description="characters of the response that are left out")
    at_hand: bool = Field(description="whether the quotes are known in words, not by number alone")
    quotes: tuple[ShownQuote, ...]


class ExtremeQuestions(Record):
    """The questions at both ends of a run, by one figure."""

    worst: tuple[ShownQuestion, ...]
    best: tuple[ShownQuestion, ...]
    errors: tuple[str, ...] = Field(description="why answers failed, with how many did; most frequent first")


def extreme_questions(run: RunReport, figure: str | None, pictures: PictureReader) -> ExtremeQuestions:
    """The best and worst questions. If equal, those with more gold quotes come first. Failed answers are left out."""
    questions = run.scores.questions
    errors = Counter(question.error for question in questions if question.error is not None)
    common = errors.most_common(SHOWN)
    other_count = errors.total() - sum(count for _, count in common)
    reasons = (
        *(f"{error} ({count})" for error, count in common),
        *([f"other reasons ({other_count})"] if other_count else []),
    )
    if figure is None:
        return ExtremeQuestions(worst=(), best=(), errors=reasons)
    counted = [
        (value, question)
        for question in questions
        if question.error is None and (value := question.row.get(figure)) is not None
    ]
    ranked = sorted(counted, key=lambda scored: (scored[0], -_gold_count(scored[1])))
    number = min(SHOWN, -(-len(ranked) // 2))
    worst = ranked[:number]
    best = sorted(ranked[number:], key=lambda scored: (-scored[0], -_gold_count(scored[1])))[:SHOWN]
    shown = [tuple(_shown_question(run, question, figure, pictures) for _, question in end) for end in (worst, best)]
    return ExtremeQuestions(worst=shown[0], best=shown[1], errors=reasons)


def _score(figure: str, question: ScoredQuestion) -> str:
    sign = " %" if unit(figure).name == "%" else ""
    return f"{label(figure)} {written(figure, question.row[figure])}{sign}"


def _gold_count(question: ScoredQuestion) -> float:
    return question.row.get("overall.gold") or 0.0


def _shown_question(run: RunReport, question: ScoredQuestion, figure: str, pictures: PictureReader) -> ShownQuestion:
    example, prediction = run.examples[question.example], run.predictions[question.example]
    marks: MarkGrammar = "published" if run.scores.marks == "published" else "own"
    gold = gold_of(prediction, example)
    response = answer_of(prediction.response or "", marks).strip()
    cited = _cited(prediction, marks)
    right = None if gold is None else _gold_places(gold)
    figures = [name for name in (figure, "judge.average") if question.row.get(name) is not None]
    return ShownQuestion(
        id=example.id,
        question=example.query.text,
        scores=", ".join(_score(name, question) for name in figures),
        gold="unknown" if gold is None or right is None else _describe_gold(gold, right),
        gold_answer=example.reference.answer or example.reference.short_answer,
        cited=_listed(cited, "none"),
        response=None if prediction.response is None else response[:MAX_CHARACTERS],
        cut=max(0, len(response) - MAX_CHARACTERS),
        at_hand=(prediction.context or example.context) is not None,
        quotes=tuple(_quotes(prediction, example, right=right, cited=cited, pictures=pictures)),
    )


def shown_quotes(prediction: Prediction, example: Example, pictures: PictureReader) -> list[ShownQuote]:
    """The quotes of an answer's context that it cites or that are gold; none without a context."""
    gold = gold_of(prediction, example)
    right = None if gold is None else _gold_places(gold)
    return _quotes(prediction, example, right=right, cited=_cited(prediction, "own"), pictures=pictures)


def _cited(prediction: Prediction, marks: MarkGrammar) -> list[Place]:
    return _in_order(citations(prediction.response or "", marks).marks())


def _gold_places(gold: Gold) -> list[Place]:
    matches = (_PLACE.fullmatch(name) for name in gold.places())
    return _in_order(("text" if match[1] == "text" else "image", int(match[2])) for match in matches if match)


def _in_order(places: Iterable[Place]) -> list[Place]:
    """Texts before images, each kind by its numbers."""
    return sorted(places, key=lambda place: (KINDS.index(place[0]), place[1]))


def _listed(places: Sequence[Place], otherwise: str) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in places) or otherwise


def _describe_gold(gold: Gold, right: Sequence[Place]) -> str:
    """The places of gold, and how much of it is missing from what the model was given."""
    lost = len(gold.kinds) - len(set(gold.places().values()))
    return _listed(right, "none") + (f"; {lost} more that the model was not given" if lost else "")


def _quotes(
    prediction: Prediction,
    example: Example,
    *,
    right: Sequence[Place] | None,
    cited: Sequence[Place],
    pictures: PictureReader,
) -> list[ShownQuote]:
    """The quotes of the context that are cited or gold; none without a context."""
    context = prediction.context or example.context
    if context is None:
        return []
    places = _in_order({*(right or ()), *cited})
    return [_quote(place, context.quote(*place), _verdict(place, right, cited), pictures) for place in places]


def _verdict(place: Place, right: Sequence[Place] | None, cited: Sequence[Place]) -> str:
    if right is None:
        return "cited"
    if place in right:
        return RIGHT if place in cited else "gold, not cited"
    return "cited, not gold"


def _quote(place: Place, quote: Quote | None, verdict: str, pictures: PictureReader) -> ShownQuote:
    words = "" if quote is None else quote.all_text()
    return ShownQuote(
        name=f"{place[0]} {place[1]}",
        verdict="cited, but there is no such quote" if quote is None else verdict,
        right=verdict == RIGHT,
        where="" if quote is None or not quote.document else f"{quote.document}, {quote.place}",
        words=shorten(words, MAX_CHARACTERS),
        picture=None if quote is None else pictures(quote.image),
    )


MAX_PICTURE_SIDE = 640
"""Pixels of the longer side of a picture as shown."""


class PictureFolder:
    """Reads pictures by their path within the folder, and never anything outside of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.lost: set[str] = set()
        """Pictures that were asked for, and are missing or cannot be read."""

    def data_url(self, name: str | None) -> str | None:
        """The picture as a JPEG data URL; None if it is missing or cannot be read."""
        url = self._read(name)
        if url is None and name:
            self.lost.add(name)
        return url

    def _read(self, name: str | None) -> str | None:
        path = None if not name or "\0" in name else (self._folder / name).resolve()
        if path is None or not path.is_relative_to(self._folder) or not path.is_file():
            return None
        try:
            with open_picture(path) as image:
                load_pixels(image)
                small = image.convert("RGB")
        except UnfitPicture:
            return None
        small.thumbnail((MAX_PICTURE_SIDE, MAX_PICTURE_SIDE))
        return to_data_url(encode_picture(small, "JPEG", quality=80), "image/jpeg")
