"""Checks passages against a claim by the gate's rules, and says how sure it is that they are its source.

Where the user names a model, it confirms that passages support the claim. The rules of the gate look up what a claim
says: numbers, dates and names. They find contraries by English words (`gate.contraries.opposite_words`). They cannot
tell, in any language, whether a passage says the rest of the same thing as the claim.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple, get_args

from quoteweave.attribution.records import Candidate, Outcome, Rejection, ranked_by_outcome
from quoteweave.core.answers import Answer, Citation, Context
from quoteweave.core.errors import BudgetSpent, EndpointError, ModelFailed
from quoteweave.core.messages import join_names
from quoteweave.core.protocols import ClaimChecker
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.tokens import stem_of, words
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.generation.gate.answer_check import check_citations
from quoteweave.generation.gate.cited_evidence import CitedEvidence
from quoteweave.generation.gate.contraries.opposite_words import CONTRARY_REASONS, Contrary, find_contrary
from quoteweave.generation.gate.derived_numbers import with_exact_amounts
from quoteweave.generation.gate.facts import read_sentence, stated_words
from quoteweave.generation.gate.sentence_check import NOTHING_TO_CHECK
from quoteweave.generation.relevance import coverage, words_with_headings
from quoteweave.generation.sentences import sentence_texts

DENIED = "The checker does not find that the passage supports it."


async def confirm(claim: str, candidates: Sequence[Candidate], checker: ClaimChecker) -> tuple[Candidate, ...]:
    """Return candidates as a checker finds them: supported or not found, those first that are supported.

    The checker is not asked about candidates that the gate's rules know to be wrong. Those that it cannot judge stay as
    they are. Where it fails, the reasons say so. Raises ModelNotFound and UsageError.
    """
    to_check = [
        candidate
        for candidate in candidates
        if candidate.citation.verdict != "unsupported" and candidate.passage.strip()
    ]
    failure, verdicts = None, list[bool | None]()
    try:
        verdicts = await checker.check([(candidate.passage, claim) for candidate in to_check]) if to_check else []
    except (EndpointError, ModelFailed, BudgetSpent) as error:
        failure, verdicts = f"The checker gave no verdict: {error.summary}", [None] * len(to_check)
    verdict_of_quote = {
        candidate.citation.quote_id: verdict for candidate, verdict in zip(to_check, verdicts, strict=True)
    }
    return ranked_by_outcome(
        _confirmed(
            candidate, verdict_of_quote.get(candidate.citation.quote_id), failure if candidate in to_check else None
        )
        for candidate in candidates
    )


def _confirmed(candidate: Candidate, supports: bool | None, failure: str | None) -> Candidate:
    citation = candidate.citation
    if supports is None:
        reason = " ".join(part for part in (citation.reason, failure) if part) or None
        return candidate.model_copy(update={"citation": citation.model_copy(update={"reason": reason})})
    outcome: Outcome = "supported" if supports else "not_found"
    judged = citation.model_copy(update={"checker_verdict": supports, "reason": None if supports else DENIED})
    rejection: Rejection | None = None if supports else "denied"
    return candidate.model_copy(update={"outcome": outcome, "citation": judged, "rejection": rejection})


MODEL = "attribution"
"""The name that answers made of attributions have in place of a model's."""
SUPPORTED_COVERAGE = 0.9
"""Least coverage of the closest sentence of a passage that supports the claim. A sentence of less coverage may have the
claim's numbers and names and still say something else of them."""
LIKELY_COVERAGE = 0.6
"""Least coverage for which a passage that cannot be checked is likely."""
NUMBERS_COVERAGE = 0.5
"""Least coverage for which a passage that has all numbers, dates and names is likely: a number alone says little."""
MAX_EXCHANGED = 3
"""Words of a replacement, at most, that a reason quotes from both the sentence and the claim."""
SHOWN_MISSING = 3
"""Missing words of the closest sentence that a reason names, at most."""

WORDS_ALONE = "The claim has no number or date to compare, and its words alone do not show it."
YEAR_ALONE = "The claim has nothing to compare but a year, and its words alone do not show it."
_PLAIN = str.maketrans("`[]", "'()")
# The gate's reasons speak of a sentence and what it cites; here a claim and a passage are compared.
_REWORDED = (
    ("the document that it cites", "the passage's document"),
    ("It cites an image whose", "The passage is an image whose"),
    ("Either it or what it cites", "Either the claim or the passage"),
    ("Of it and what it cites", "Of the claim and the passage"),
    ("What it cites", "The passage"),
    ("one of its words", "a word of the claim"),
    ("what it cites", "the passage"),
)


@dataclass(frozen=True, slots=True)
class CheckedPassage:
    """A passage that was checked against a claim."""

    hit: Hit
    answer: Answer
    """The claim as an answer that cites the passage alone, with the gate's verdict."""
    covered: float
    """Share of the claim's words, weighed by rarity, that the passage's closest sentence has."""
    closest: str
    """The passage's sentence that is closest to the claim."""
    lacking: bool = False
    """Whether all numbers, dates and names occur, but the closest sentence has too few of the claim's words."""
    contrary: Contrary | None = None
    """How the passage states the contrary of the claim, if it does."""

    @property
    def citation(self) -> Citation:
        """The answer's only citation."""
        return self.answer.citations[0]

    @property
    def outcome(self) -> Outcome:
        """How sure it is that the passage is the claim's source."""
        if self.citation.verdict != "unchecked":
            return "supported" if self.citation.verdict == "supported" else "not_found"
        return "likely" if self.covered >= (NUMBERS_COVERAGE if self.lacking else LIKELY_COVERAGE) else "not_found"

    @property
    def rejection(self) -> Rejection | None:
        """Why it is known not to be the source, as `Candidate.rejection`."""
        return None if self.contrary is None else "contrary"

    @property
    def is_opposite(self) -> bool:
        """Whether it says the contrary by a word that is the opposite of one of the claim's words."""
        return self.contrary in ("direction", "opposite_word")

    @property
    def order(self) -> tuple[int, bool]:
        """A sort key, best first: by outcome, then passages that lack a number and pictures without a verdict last.

        A contrary passage is about the claim, so it is not ranked with those that lack a number.
        """
        lacks = self.citation.verdict == "unsupported" and self.contrary is None
        return get_args(Outcome).index(self.outcome), lacks or (
            self.hit.quote.kind == "image" and self.citation.verdict == "unchecked"
        )


def check_passage(
    claim: str, hit: Hit, weights: Mapping[str, float], document_hits: Sequence[Hit] = ()
) -> CheckedPassage:
    """Check a claim against a passage; `weights` are those of the claim's words (`weigh_terms`).

    The gate also sees `document_hits`, quotes of the same document, which may name the passage's year or what its
    numbers count.
    """
    context = passage_context([hit, *(document_hit for document_hit in document_hits if document_hit is not hit)])
    checked = check_citations(cite_passage(claim, hit, context), context)
    (citation,) = checked.citations
    exact = with_exact_amounts(claim, CitedEvidence([hit.quote]))
    closest = _closest_sentence(claim, exact, hit.quote, weights)
    share = coverage(weights, closest.stems)
    covered = min(1.0, coverage(weights, closest.stems.union(words_with_headings(hit.quote))))
    reason, lacking = _reworded(citation.reason, claim), False
    if citation.verdict == "supported" or citation.only_words_differ:
        reason, difference = None, _Difference.of(claim, closest, weights)
        if citation.only_words_differ or share < SUPPORTED_COVERAGE or difference.instead is not None:
            reason, lacking = difference.in_words if difference.missing else _reworded(citation.reason, claim), True
    elif citation.reason == NOTHING_TO_CHECK and covered >= LIKELY_COVERAGE and share < 1:
        reason = f"{reason} {_Difference.of(claim, closest, weights).in_words}"
    verdict = "unchecked" if lacking else citation.verdict
    contrary: Contrary | None = None
    if verdict != "unsupported" and hit.quote.kind == "text":
        contrary = find_contrary(exact, sentence_texts(hit.quote.all_text()), weights)
    if contrary is not None:
        verdict, reason, lacking = "unsupported", _reworded(CONTRARY_REASONS[contrary], claim), False
    update = {"verdict": verdict, "reason": reason, "only_words_differ": lacking}
    answer = with_citations(checked, [citation.model_copy(update=update)])
    return CheckedPassage(hit, answer, covered, closest.text, lacking, contrary)


class _Sentence(NamedTuple):
    """A sentence of a passage."""

    text: str
    stems: frozenset[str]
    """Its words, those of its headings, and words of the claim's amounts that it writes in another way."""


def _closest_sentence(claim: str, exact: str, quote: Quote, weights: Mapping[str, float]) -> _Sentence:
    """The sentence that, with its headings, has most of the claim's words; a picture or table counts as one.

    `exact` is the claim with amounts that it rounds as the quote states them, which counts as stating them so.
    """
    quote_stems = words_with_headings(quote)
    claim_stems, exact_stems = frozenset(words(claim)), frozenset(words(exact))

    def with_rounded(stems: frozenset[str]) -> frozenset[str]:
        return stems | (claim_stems - exact_stems) if exact_stems - claim_stems <= stems else stems

    if quote.kind == "image":
        return _Sentence(quote.all_text(), with_rounded(quote_stems))
    headings = quote_stems - frozenset(words(quote.all_text()))
    amounts = read_sentence(claim).amounts
    texts = sentence_texts(quote.all_text())
    sentences = [_Sentence(text, headings | with_rounded(stated_words(text, amounts))) for text in texts]
    return max(sentences, key=lambda sentence: coverage(weights, sentence.stems), default=_Sentence("", headings))


class _Difference(NamedTuple):
    """How the closest sentence of a passage, with its headings, differs from a claim."""

    missing: Sequence[str]
    """The words that it lacks, as the claim writes them, the rarest first."""
    instead: tuple[str, str] | None
    """What the sentence has in place of the missing words, and what the claim has there; None if no words are missing
    or they stand apart."""

    @classmethod
    def of(cls, claim: str, closest: _Sentence, weights: Mapping[str, float]) -> "_Difference":
        """Compare a claim, whose words have these weights, with the closest sentence of a passage."""
        written = {stem: word for word in words(claim, stem=False) for stem in words(word)}
        missing = (stem for stem in weights if stem in written and stem not in closest.stems)
        stems = sorted(missing, key=lambda stem: -weights[stem])
        instead = _replacement(claim, closest.text, frozenset(stems)) if stems else None
        return cls([written[stem] for stem in stems], instead)

    @property
    def in_words(self) -> str:
        """A sentence that names the difference.

        It does not judge it: another word in the same place may be a synonym or the name of something else. A table's
        numbers do not count as replacing a word.
        """
        passage_words, claim_words = self.instead or ("", "")
        if any(map(str.isalpha, passage_words)):
            return f"The closest sentence of the passage has “{passage_words}” where the claim has “{claim_words}”."
        named = join_names([f"“{word}”" for word in self.missing], SHOWN_MISSING)
        return f"The closest sentence of the passage lacks {named}."


def _replacement(claim: str, sentence: str, missing: Set[str]) -> tuple[str, str] | None:
    """What a sentence says in the one place where the claim has all `missing` words, and what the claim says there.

    None if there is no such place.
    """
    claim_words, passage_words = (words(text, stem=False) for text in (claim, sentence))
    claim_stems, passage_stems = ([stem_of(word) for word in text] for text in (claim_words, passage_words))
    matcher = SequenceMatcher(None, claim_stems, passage_stems, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        short = kind == "replace" and max(end - start, last - first) <= MAX_EXCHANGED
        if short and missing <= set(claim_stems[start:end]):  # others may occur elsewhere
            return " ".join(passage_words[first:last]), " ".join(claim_words[start:end])
    return None


def cite_passage(claim: str, hit: Hit, context: Context) -> Answer:
    """Return the claim as an answer that cites the passage once; it must be the first of its kind in the context.

    Backquotes and square brackets of the claim are replaced, as marks in code are ignored and brackets may be marks.
    """
    mark = "[1]" if hit.quote.kind == "text" else "![](image1)"
    return build_answer("", f"{claim.translate(_PLAIN)} {mark}", context, model=MODEL)


def passage_context(hits: Sequence[Hit]) -> Context:
    """Return a context of these passages, numbered by kind in their order."""
    texts = tuple(hit for hit in hits if hit.quote.kind == "text")
    return Context(texts=texts, images=tuple(hit for hit in hits if hit.quote.kind == "image"))


def _reworded(reason: str | None, claim: str) -> str | None:
    if reason == NOTHING_TO_CHECK:
        return YEAR_ALONE if any(amount.year for amount in read_sentence(claim).amounts) else WORDS_ALONE
    for of_a_sentence, of_a_claim in _REWORDED if reason is not None else ():
        reason = (reason or "").replace(of_a_sentence, of_a_claim)
    return reason
