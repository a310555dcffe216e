"""Judges and verdicts of MCiteBench's kind, made by hand."""

from collections.abc import Mapping, Sequence

from quoteweave.core.errors import EndpointUnreachable
from quoteweave.core.protocols import CitedSentence, Grade
from quoteweave.core.records import Quote
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, SentenceVerdict


def grade(score: float | None) -> Grade:
    return Grade(score=score, error=None if score is not None else "prose", model="m", prompt="0")


def sentence(support: float | None = None, **relevance: float | None) -> SentenceVerdict:
    """Cites what `relevance` names; an item given as -1 is not in the context."""
    known = {name: grade(score) for name, score in relevance.items() if score != -1}
    return SentenceVerdict(
        text="It is so.", cited=tuple(relevance), support=grade(support) if known else None, relevance=known
    )


def verdict(*sentences: SentenceVerdict, accuracy: float | None = None, by_rule: bool = False) -> EvidenceVerdict:
    return EvidenceVerdict(
        example="q",
        judge="judge",
        splitter="splitter",
        by_rule=by_rule,
        request="0",
        sentences=sentences,
        accuracy=grade(accuracy),
    )


class WordJudge:
    """Evidence supports a statement as far as it shares words with it: all 1, some 0.5, none 0; it keeps what it saw.

    What `failing` names is refused.
    """

    def __init__(self, failing: Sequence[str] = (), name: str = "words") -> None:
        self.name = name
        self.failing = failing
        self.asked: list[tuple[str, str, tuple[str, ...]]] = []

    async def support(self, statement: str, evidence: Sequence[Quote]) -> Grade:
        self.asked.append(("support", statement, tuple(quote.id for quote in evidence)))
        return self._grade(statement, " ".join(quote.all_text() for quote in evidence))

    async def relevance(self, statement: str, item: Quote) -> Grade:
        self.asked.append(("relevance", statement, (item.id,)))
        overlap = self._grade(statement, item.all_text())
        return grade(None if overlap.score is None else float(overlap.score > 0))

    async def accuracy(self, question: str, gold_answer: str, answer: str, *, question_type: str | None) -> Grade:
        self.asked.append(("accuracy", answer, (gold_answer, str(question_type))))
        return grade(None if answer in self.failing else 2.0)

    def _grade(self, statement: str, evidence: str) -> Grade:
        if statement in self.failing:
            return grade(None)
        words = {word.strip(".").lower() for word in statement.split()}
        shared = words & {word.strip(".").lower() for word in evidence.split()}
        return grade(1.0 if shared == words else 0.5 if shared else 0.0)


class ModelSplitter:
    """Splits as it was told; a response that it was not told of fails."""

    name = "model"
    by_rule = False

    def __init__(self, splits: Mapping[str, Sequence[CitedSentence]]) -> None:
        self._splits = splits

    async def split(self, response: str) -> list[CitedSentence]:
        if response not in self._splits:
            raise EndpointUnreachable("the splitter is away")
        return list(self._splits[response])
