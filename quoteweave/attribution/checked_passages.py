"""Checks passages against a claim by the gate's rules, and says how sure it is that they are its source.

Where the user names a model, it confirms that passages support the claim. The rules of the gate look up what a claim
says: numbers, dates and names, and that of something rising or falling by lists of English words. Whether the rest is
said of the same thing, in whatever language, they cannot tell.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import get_args

from pydantic import Field

from quoteweave.attribution.records import Candidate, Outcome
from quoteweave.core.answers import Answer, Citation, Context
from quoteweave.core.errors import BudgetSpent, EndpointError, ModelFailed
from quoteweave.core.messages import join_names
from quoteweave.core.protocols import ClaimChecker
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.tokens import words
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.generation.extractive.statements import words_with_headings
from quoteweave.generation.gate import check_citations
from quoteweave.generation.gate.amounts import NUMBER_WORDS
from quoteweave.generation.relevance import coverage
from quoteweave.generation.sentences import sentence_texts
from quoteweave.pipeline.gate import make_checker
from quoteweave.pipeline.runs.progress import Progress
from quoteweave.pipeline.settings import RetrievalSettings
from quoteweave.retrievers.registry import Resources

DENIED = "The checker does not find that the passage supports it."


class AttributionSettings(RetrievalSettings):
    """Settings of attribution: how passages are found, and what confirms them.

    >>> AttributionSettings(retriever=("bm25",), check="chat:judge@http://localhost:8000/v1").retriever
    ('bm25',)
    """

    check: str | None = Field(
        default=None,
        description="have the passages of candidates confirmed by chat:MODEL@URL, or by an entailment model: folder or "
        "hub name",
    )


def make_confirming_checker(settings: RetrievalSettings, progress: Progress) -> ClaimChecker | None:
    """Make the checker that the settings name, if they do. Raises what `make_checker` raises."""
    if not isinstance(settings, AttributionSettings) or settings.check is None:
        return None
    resources = Resources(settings.hardware, tell=progress.note, retry_options=settings.retry_options)
    return make_checker(settings.check, resources=resources)


async def confirm(claim: str, candidates: Sequence[Candidate], checker: ClaimChecker) -> tuple[Candidate, ...]:
    """Return candidates as a checker finds them: supported or not found, those first that are supported.

    What the gate's rules know to be wrong is not asked, and what the checker cannot say stays as it is. Where it fails,
    the reasons say so. Raises ModelNotFound and UsageError.
    """
    asked = [one for one in candidates if one.citation.verdict != "unsupported" and one.passage.strip()]
    failure, verdicts = None, list[bool | None]()
    try:
        verdicts = await checker.check([(one.passage, claim) for one in asked]) if asked else []
    except (EndpointError, ModelFailed, BudgetSpent) as error:
        failure, verdicts = f"The checker gave no verdict: {error.summary}", [None] * len(asked)
    said = {one.citation.quote_id: verdict for one, verdict in zip(asked, verdicts, strict=True)}
    found = [_confirmed(one, said.get(one.citation.quote_id), failure if one in asked else None) for one in candidates]
    ranked = sorted(found, key=lambda one: get_args(Outcome).index(one.outcome))
    return tuple(one.model_copy(update={"rank": rank}) for rank, one in enumerate(ranked, 1))


def _confirmed(found: Candidate, supports: bool | None, failure: str | None) -> Candidate:
    citation = found.citation
    if supports is None:
        reason = " ".join(part for part in (citation.reason, failure) if part) or None
        return found.model_copy(update={"citation": citation.model_copy(update={"reason": reason})})
    outcome: Outcome = "supported" if supports else "not_found"
    said = citation.model_copy(update={"checker_verdict": supports, "reason": None if supports else DENIED})
    return found.model_copy(update={"outcome": outcome, "citation": said})


MODEL = "attribution"
"""The model's name in answers that are made of attributions."""
SUPPORTED_COVERAGE = 0.9
"""Least coverage of the closest sentence of a passage that supports the claim. Where numbers and names occur, what they
are said of may still be something else, of which another paper or another sentence speaks."""
OPPOSITE = "Of the claim and the passage one says that something rises, and the other that it falls."
"""The reason of a passage that says the contrary, which is not the source."""
LIKELY_COVERAGE = 0.6
"""Least coverage of a passage that cannot be checked, to be likely."""
SHOWN_MISSING = 3
"""Words that the closest sentence lacks, that a reason names."""

_RISES = "rise rises rose risen raise raised rising increase increases grow grows grew grown growth gain higher more"
_FALLS = (
    "fall falls fell fallen drop drops dropped lower lowered reduce reduces decrease decreases decline declines shrink"
    " shrinks shrank shrunk loss less fewer"
)
_DIRECTIONS = tuple(frozenset(words(said, stop=False)) for said in (_RISES, _FALLS))
_SAYS_DIRECTION = frozenset().union(*_DIRECTIONS)
# "More than 40" says nothing of a direction, and what does not rise need not fall.
_BOUND = re.compile(rf"\b(?:more|less|fewer|higher|lower) than (?=\d|(?:a|half|{NUMBER_WORDS})\b)", re.IGNORECASE)
_NEGATIONS = frozenset({"no", "not", "t", "never", "nor", "neither", "hardly"})
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
    lacking: bool = False
    """Whether all that can be looked up occurs, but its closest sentence has too few of the claim's words."""

    @property
    def citation(self) -> Citation:
        """The answer's only citation."""
        return self.answer.citations[0]

    @property
    def outcome(self) -> Outcome:
        """How sure it is that the passage is the claim's source."""
        if self.citation.verdict != "unchecked":
            return "supported" if self.citation.verdict == "supported" else "not_found"
        return "likely" if self.lacking or self.covered >= LIKELY_COVERAGE else "not_found"

    @property
    def order(self) -> tuple[int, bool]:
        """Its place among others, the least first: by outcome; what lacks a number or date stands behind its equals.

        What says the contrary is about the claim, and does not.
        """
        lacks = self.citation.verdict == "unsupported" and self.citation.reason != OPPOSITE
        return get_args(Outcome).index(self.outcome), lacks


def check_passage(claim: str, hit: Hit, weights: Mapping[str, float], others: Sequence[Hit] = ()) -> CheckedPassage:
    """Check a claim against a passage; `weights` are those of the claim's words (`weigh_terms`).

    The gate also sees `others`, found in the same document, which may name its year, or what its numbers count.
    """
    context = passage_context([hit, *(other for other in others if other is not hit)])
    checked = check_citations(cite_passage(claim, hit, context), context)
    (citation,) = checked.citations
    closest = _closest_sentence(hit.quote, weights)
    reason, lacking = _reworded(citation.reason), False
    if citation.verdict == "supported":
        reason = None
        if coverage(weights, closest) < SUPPORTED_COVERAGE:
            reason, lacking = _lacks(claim, closest, weights), True
    verdict = "unchecked" if lacking else citation.verdict
    if verdict != "unsupported" and _says_contrary(claim, hit.quote, weights):
        verdict, reason, lacking = "unsupported", OPPOSITE, False
    update = {"verdict": verdict, "reason": reason}
    covered = min(1.0, coverage(weights, words_with_headings(hit.quote)))
    return CheckedPassage(hit, with_citations(checked, [citation.model_copy(update=update)]), covered, lacking)


def _closest_sentence(quote: Quote, weights: Mapping[str, float]) -> frozenset[str]:
    """The words of the sentence that has most of the claim's, with those of its headings; a picture or table is one."""
    if quote.kind == "image":
        return frozenset(words_with_headings(quote))
    headings = words_with_headings(quote) - frozenset(words(quote.words()))
    sentences = [headings | frozenset(words(one)) for one in sentence_texts(quote.words())]
    return max(sentences, key=lambda held: coverage(weights, held), default=headings)


def _says_contrary(claim: str, quote: Quote, weights: Mapping[str, float]) -> bool:
    """Whether the claim says that something rises and the passage that it falls, or the other way round.

    That is told by the sentences alone that have most of what else the claim says, and only where none of them says
    the same as the claim. Headings, tables and pictures are not read for it.
    """
    if quote.kind == "image":
        return False
    rest = {word: weight for word, weight in weights.items() if word not in _SAYS_DIRECTION}
    least = LIKELY_COVERAGE * math.fsum(rest.values())
    near = [one for one in sentence_texts(quote.words()) if coverage(rest, words(one)) >= least > 0]
    found = [_is_contrary(_said(claim), _said(one)) for one in near]
    return True in found and False not in found


def _said(sentence: str) -> frozenset[str]:
    """The words of a sentence that may say a direction, or deny something."""
    return frozenset(words(_BOUND.sub("", " ".join(sentence.split())), stop=False))


def _directions(said: Set[str]) -> set[int]:
    """The places in `_DIRECTIONS` of what these words say."""
    return {at for at, one in enumerate(_DIRECTIONS) if said & one}


def _is_contrary(claim: Set[str], sentence: Set[str]) -> bool | None:
    """Whether a sentence says the other direction than the claim; None where it says none, or one of them denies.

    Directions that both say in the same word, such as the "loss" of what is reduced, are of neither.
    """
    if _NEGATIONS & (claim | sentence) or not _SAYS_DIRECTION & claim:
        return None
    own, its = _directions(claim - sentence), _directions(sentence - claim)
    if not own or own & its:
        return False
    return True if its else None


def _lacks(claim: str, closest: Set[str], weights: Mapping[str, float]) -> str:
    """Say which words of the claim the closest sentence of a passage lacks, the rarest first."""
    written = {stem: word for word in words(claim, stem=False) for stem in words(word)}
    missing = sorted(
        (stem for stem in weights if stem not in closest and stem in written), key=lambda one: -weights[one]
    )
    named = join_names([f"“{written[stem]}”" for stem in missing], SHOWN_MISSING)
    return f"The closest sentence of the passage lacks {named}."


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
