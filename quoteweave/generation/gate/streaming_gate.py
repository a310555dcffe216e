"""Apply the gate to a streaming answer: hold back the current sentence, and drop sentences that are not supported."""

from collections.abc import Iterator, Sequence

from quoteweave.core.answers import Citation, CitationEvent, Context, Event, TextEvent
from quoteweave.generation.citations import to_events
from quoteweave.generation.gate.claims import Claim, ClaimReader
from quoteweave.generation.gate.policies import UnsupportedFilter
from quoteweave.generation.gate.sentence_check import check_sentence


class StreamingGate:
    """Takes the events of an answer, and yields those of the text that `policies.apply` keeps under `drop`."""

    def __init__(self, context: Context, question: str) -> None:
        self._context, self._question = context, question
        self._claims, self._dropper = ClaimReader(), UnsupportedFilter()
        self._citations: dict[int, list[Citation]] = {}  # by the start of their marks
        self._text, self._at = "", 0  # from the end of the last claim on

    @property
    def refuses(self) -> bool:
        """Whether sentences were dropped and none that cites something is left, so that the answer is refused."""
        return bool(self._dropper.dropped) and not self._dropper.cited

    def take(self, event: TextEvent | CitationEvent) -> Iterator[Event]:
        """Take the next event; yield what is certain to be shown."""
        if isinstance(event, CitationEvent):
            self._citations.setdefault(event.citation.start, []).append(event.citation)
            return
        self._text += event.text
        yield from self._checked_events(self._claims.feed(event.text))

    def end(self) -> Iterator[Event]:
        """Yield everything that remains."""
        yield from self._checked_events(self._claims.end())
        yield from to_events(self._dropper.end())

    def _checked_events(self, claims: Sequence[Claim]) -> Iterator[Event]:
        for claim in claims:
            blank, text = (
                self._text[: claim.start - self._at],
                self._text[claim.start - self._at : claim.end - self._at],
            )
            self._text, self._at = self._text[claim.end - self._at :], claim.end
            citations = [one for mark in claim.marks for one in self._citations.pop(mark.start, ())]
            if citations:
                checked = check_sentence(
                    text, citations, self._context, question=self._question, statement=claim.sentence
                )
                citations = list(checked.citations)
            yield from to_events(self._dropper.take(blank, text, claim, citations))
