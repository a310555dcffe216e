"""Verdicts on cited sentences: collected from a judge, stored as JSON Lines, resumed, scored later.

Each sentence is judged against everything that it cites together, and each cited item by itself (MCiteBench, arXiv
2503.02589, section 4). Figures are computed only from these verdicts: `metrics.citations.citation_quality`.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from quoteweave.core.answers import Context
from quoteweave.core.chat.usage import ASCII_CHARACTERS_PER_TOKEN
from quoteweave.core.errors import DatasetError, EndpointError, UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.jsonl import iter_records, open_for_append
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import CitedSentence, EvidenceJudge, Grade, Splitter
from quoteweave.core.records import Quote, Record
from quoteweave.evaluation.judges.batch import JudgingItem, JudgingPlan, judge_concurrently
from quoteweave.evaluation.judges.chat import NO_ANSWER
from quoteweave.evaluation.text.responses import answer_of
from quoteweave.evaluation.text.source_marks import item_name

SUPPORT_SCALE, RELEVANCE_SCALE, ACCURACY_SCALE = (0.0, 0.5, 1.0), (0.0, 1.0), (0.0, 1.0, 2.0)
GRADE_FIELDS = ("support", "relevance", "accuracy")
"""Fields of the judge's replies, each of which has one of them."""
PROMPT_TOKENS, GRADE_TOKENS = 350, 15
"""Tokens of a prompt without its subject, and of a reply; a model that thinks first writes many more."""


class SentenceVerdict(Record):
    """The grades of one sentence and of each item it cites."""

    text: str
    cited: tuple[str, ...] = Field(description="names of the items that it cites, each once")
    written: tuple[str, ...] = Field(default=(), description="the same as the splitter wrote them, repetitions kept")
    support: Grade | None = Field(description="0, 0.5 or 1, by all cited items together; None where none is known")
    relevance: Mapping[str, Grade] = Field(description="cited item to 0 or 1; without those that the context has not")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cited items as written, if that was stored."""
        return self.written or self.cited

    def grades(self) -> Iterator[Grade]:
        """All grades that were asked for."""
        yield from (*([] if self.support is None else [self.support]), *self.relevance.values())


class EvidenceVerdict(Record):
    """The verdicts on the sentences of one response, or the error."""

    example: str = Field(description="id of the example")
    judge: str = Field(description="name of the judge")
    splitter: str = Field(description="name of what split the response")
    by_rule: bool = Field(description="whether it was split by rule")
    request: str = Field(description="SHA-256 of question, gold answer, response and context")
    sentences: tuple[SentenceVerdict, ...] | None = Field(description="None where the response could not be split")
    accuracy: Grade | None = Field(default=None, description="0, 1 or 2; None where there is no gold answer")
    error: str | None = Field(default=None, description="why the response could not be split")

    def grades(self) -> list[Grade]:
        """All grades that were asked for."""
        grades = [grade for sentence in self.sentences or () for grade in sentence.grades()]
        return grades if self.accuracy is None else [*grades, self.accuracy]

    def cited(self) -> tuple[str, ...]:
        """Names of all items that the response cites, each once."""
        return tuple(dict.fromkeys(item for sentence in self.sentences or () for item in sentence.cited))

    @property
    def is_complete(self) -> bool:
        """Whether nothing failed; what failed is asked again on resuming."""
        return self.sentences is not None and all(grade.score is not None for grade in self.grades())


def load_evidence_verdicts(path: Path) -> dict[str, EvidenceVerdict]:
    """Example id to the last verdict on it. Raises DatasetError for a file of another kind, or of several judges."""
    verdicts: dict[str, EvidenceVerdict] = {}
    first: EvidenceVerdict | None = None
    for number, verdict in iter_records(path, EvidenceVerdict, drop_cut=True):
        first = first or verdict
        if (verdict.judge, verdict.splitter) != (first.judge, first.splitter):
            raise DatasetError(
                f"{path}, line {number}, judge and splitter: {verdict.judge!r} and {verdict.splitter!r}, where earlier "
                f"lines are by {first.judge!r} and {first.splitter!r}; keep each in a file of its own"
            )
        verdicts[verdict.example] = verdict
    return verdicts


def plan_evidence(
    pairs: Sequence[JudgingItem],
    stored: Mapping[str, EvidenceVerdict],
    *,
    split: Callable[[str], Sequence[CitedSentence]],
) -> JudgingPlan:
    """The responses without a complete verdict in `stored`, and about how many tokens they need; `split` is a rule."""
    answered = [pair for pair in pairs if pair[0].error is None and pair[0].response is not None]
    to_judge = [pair for pair in answered if not _is_judged(stored.get(pair[1].id), pair)]
    token_counts = [_tokens(*pair, split=split) for pair in to_judge]
    return JudgingPlan(
        left=to_judge,
        done=len(answered) - len(to_judge),
        no_answer=len(pairs) - len(answered),
        input_tokens=sum(sent for sent, _ in token_counts),
        output_tokens=sum(written for _, written in token_counts),
    )


def _tokens(
    prediction: Prediction, example: Example, *, split: Callable[[str], Sequence[CitedSentence]]
) -> tuple[int, int]:
    """About how many tokens are sent and received: for splitting the response, for each grade, and for the accuracy."""
    answer = answer_of(prediction.response or "", "own").strip()
    words = {name: len(quote.all_text()) for name, quote in _items(prediction, example).items()}
    sent, calls = 2 * len(answer) + len(example.query.text), 2
    for sentence in split(answer):
        known = [name for name in map(item_name, sentence.cited) if name in words]
        sent += 2 * sum(words[name] for name in known) + (len(known) + 1) * len(sentence.text)
        calls += len(known) + 1 if known else 0
    return calls * PROMPT_TOKENS + sent // ASCII_CHARACTERS_PER_TOKEN, calls * GRADE_TOKENS + len(
        answer
    ) // ASCII_CHARACTERS_PER_TOKEN


async def judge_evidence(
    pairs: Sequence[JudgingItem],
    path: Path,
    *,
    judge: EvidenceJudge,
    splitter: Splitter,
    concurrency: int = 4,
    on_verdict: Callable[[EvidenceVerdict], None] = lambda _: None,
) -> dict[str, EvidenceVerdict]:
    """Judge responses without a complete verdict in `path`, `concurrency` at a time; return all verdicts of the file.

    `on_verdict` is called for each verdict as soon as it is stored. Predictions that are errors have no response to
    judge. A line cut short by a crash is dropped. Raises DatasetError if a context is missing, UsageError if `path` is
    by another judge or splitter, EndpointUnreachable after `MAX_CONSECUTIVE_FAILURES` failures in a row, StorageError
    when the disk refuses.
    """
    answered = [pair for pair in pairs if pair[0].response is not None and pair[0].error is None]
    _require_contexts(answered)
    with open_for_append(path) as write:
        stored = load_evidence_verdicts(path)
        for verdict in stored.values():
            if (verdict.judge, verdict.splitter) != (judge.name, splitter.name):
                raise UsageError(f"{path} holds verdicts by {verdict.judge} and {verdict.splitter}; name another file")
        to_judge = [pair for pair in answered if not _is_judged(stored.get(pair[1].id), pair)]

        async def judge_one(pair: JudgingItem) -> str | None:
            verdict = await _judged(*pair, judge=judge, splitter=splitter)
            write(verdict)
            stored[verdict.example] = verdict
            on_verdict(verdict)
            return _failure(verdict)

        message = "{failures} responses in a row could not be judged; what was said is kept"
        await judge_concurrently(to_judge, judge_one, concurrency=concurrency, message=message)
    return stored


def _require_contexts(pairs: Sequence[JudgingItem]) -> None:
    bare = [example.id for prediction, example in pairs if _context(prediction, example) is None]
    if bare:
        raise DatasetError(
            f"{pluralize(len(bare), 'example has', 'examples have')} no context, such as {bare[0]!r}: "
            f"there is no evidence to judge"
        )


def _failure(verdict: EvidenceVerdict) -> str | None:
    """Why nothing of the response could be judged; None if something was, or if there was nothing to judge."""
    if verdict.sentences is not None and any(grade.score is not None for grade in verdict.grades()):
        return None
    return (verdict.error or "no grade") if verdict.grades() or verdict.error else None


async def _judged(
    prediction: Prediction, example: Example, *, judge: EvidenceJudge, splitter: Splitter
) -> EvidenceVerdict:
    answer = answer_of(prediction.response or "", "own").strip()
    verdict = EvidenceVerdict(
        example=example.id,
        judge=judge.name,
        splitter=splitter.name,
        by_rule=splitter.by_rule,
        request=request_hash(prediction, example),
        sentences=None,
    )
    try:
        sentences = await splitter.split(answer) if answer else []
    except EndpointError as error:
        return verdict.model_copy(update={"error": str(error)})
    quotes_by_name = _items(prediction, example)
    verdicts = [await _sentence(sentence, quotes_by_name, judge) for sentence in sentences]
    accuracy = None
    if gold := example.reference.answer or example.reference.short_answer:
        question, question_type = example.query.text, example.question_type
        accuracy = await judge.accuracy(question, gold, answer or NO_ANSWER, question_type=question_type)
    return verdict.model_copy(update={"sentences": tuple(verdicts), "accuracy": accuracy})


async def _sentence(
    sentence: CitedSentence, quotes_by_name: Mapping[str, Quote], judge: EvidenceJudge
) -> SentenceVerdict:
    cited = tuple(dict.fromkeys(item_name(item) for item in sentence.cited))
    known = {name: quotes_by_name[name] for name in cited if name in quotes_by_name}
    relevance = await asyncio.gather(*(judge.relevance(sentence.text, quote) for quote in known.values()))
    return SentenceVerdict(
        text=sentence.text,
        cited=cited,
        written=sentence.written,
        support=await judge.support(sentence.text, list(known.values())) if known else None,
        relevance=dict(zip(known, relevance, strict=True)),
    )


def _context(prediction: Prediction, example: Example) -> Context | None:
    return prediction.context or example.context


def _items(prediction: Prediction, example: Example) -> dict[str, Quote]:
    """Name to quote, for the quotes that the generator was given."""
    context = _context(prediction, example) or Context()
    return {item_name(hit.quote.id): hit.quote for hit in context.hits}


def _is_judged(verdict: EvidenceVerdict | None, pair: JudgingItem) -> bool:
    if verdict is None or not verdict.is_complete or verdict.request != request_hash(*pair):
        return False
    return all(item_name(name) == name for name in verdict.cited())  # names by an earlier version may differ


def with_explanation(example: Example) -> Example:
    """A Locating question whose gold answer is followed by why it is right, which MCiteBench's judge reads.

    Source: caiyuhu/MCiteBench at d9d41d3, evaluation/eval_ans_acc/eval_response_acc.py. Other examples are unchanged.
    """
    gold, why = example.reference.answer, example.reference.explanation
    if example.question_type != "locating" or not gold or not why:
        return example
    reference = example.reference.model_copy(update={"answer": f"{gold}\n\nExplanation: {why}"})
    return example.model_copy(update={"reference": reference})


def request_hash(prediction: Prediction, example: Example) -> str:
    """SHA-256 of everything on which a verdict on this response depends."""
    context = _context(prediction, example) or Context()
    gold = example.reference.answer or example.reference.short_answer
    parts = [example.query.text, example.question_type, gold, prediction.response, context.model_dump_json()]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def current_verdicts(
    verdicts: Mapping[str, EvidenceVerdict], predictions: Sequence[Prediction], examples: Sequence[Example]
) -> dict[str, EvidenceVerdict]:
    """The verdicts on these answers as they are now, with the question's gold explanation or without."""
    examples_by_id = {example.id: example for example in examples}
    hashes = {
        request_hash(prediction, example)
        for prediction in (predictions if verdicts else ())
        for example in (examples_by_id[prediction.example], with_explanation(examples_by_id[prediction.example]))
    }
    return {name: verdict for name, verdict in verdicts.items() if verdict.request in hashes}
