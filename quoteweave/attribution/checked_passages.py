"""Checks passages against a claim by the gate's rules, and says how sure it is that they are its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from quoteweave.attribution.records import Outcome
from quoteweave.core.answers import Answer, Citation, Context
from quoteweave.core.records import Hit
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.generation.gate import check_answer

MODEL = "attribution"
"""The model's name in answers that are made of attributions."""
LIKELY_COVERAGE = 0.6
"""Least coverage of a passage that cannot be checked, to be likely."""

_PLAIN = str.maketrans("`[]", "'()")
# The gate speaks of a sentence and what it cites; here nothing is cited yet.
_REWORDED = (
    ("the document that it cites", "the passage's document"),
    ("It cites an image whose", "The passage is an image whose"),
    ("Either it or what it cites", "Either the claim or the passage"),
    (
        "It says nothing that can be looked for.",
        "The claim has no number or date to compare, and its words alone do not show it.",
    ),
    ("what it cites", "the passage"),
)


@dataclass(frozen=True, slots=True)
class CheckedPassage:
    """A passage that was checked against a claim."""

    hit: Hit
    answer: Answer
    """The claim as an answer that cites the passage alone, with the gate's verdict."""
    covered: float
    """Share of the claim's words that it has, weighed by rarity."""

    @property
    def citation(self) -> Citation:
        """The answer's only citation."""
        return self.answer.citations[0]

    @property
    def outcome(self) -> Outcome:
        """How sure it is that the passage is the claim's source."""
        if self.citation.verdict == "supported":
            return "supported"
        return "likely" if self.citation.verdict == "unchecked" and self.covered >= LIKELY_COVERAGE else "not_found"

    @property
    def order(self) -> int:
        """Its place among others by outcome: 0 where it is supported."""
        return get_args(Outcome).index(self.outcome)


def check_passage(claim: str, hit: Hit, covered: float, others: Sequence[Hit] = ()) -> CheckedPassage:
    """Check a claim against a passage.

    The gate also sees `others`, found in the same document, which may name its year, or what its numbers count.
    """
    context = passage_context([hit, *(other for other in others if other is not hit)])
    checked = check_answer(cite_passage(claim, hit, context), context)
    (citation,) = checked.citations
    citation = citation.model_copy(update={"reason": _reworded(citation.reason)})
    return CheckedPassage(hit, with_citations(checked, [citation]), covered)


def cite_passage(claim: str, hit: Hit, context: Context) -> Answer:
    """Return the claim as an answer that cites the passage, which is the first of its kind in the context, once.

    What the claim has of code, in which nothing is cited, and of marks is put in other characters.
    """
    mark = "[1]" if hit.quote.kind == "text" else "![](image1)"
    return build_answer("", f"{claim.translate(_PLAIN)} {mark}", context, model=MODEL)


def passage_context(hits: Sequence[Hit]) -> Context:
    """Return a context of these passages, numbered by kind in their order."""
    texts = tuple(hit for hit in hits if hit.quote.kind == "text")
    return Context(texts=texts, images=tuple(hit for hit in hits if hit.quote.kind == "image"))


def _reworded(reason: str | None) -> str | None:
    for of_a_sentence, of_a_claim in _REWORDED if reason is not None else ():
        reason = (reason or "").replace(of_a_sentence, of_a_claim)
    return reason
