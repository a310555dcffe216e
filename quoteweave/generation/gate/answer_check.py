"""Check whole answers: a verdict on every citation, by rule or by a model."""

from collections.abc import Iterable, Sequence

from quoteweave.core.answers import Answer, Citation, Context
from quoteweave.core.errors import BudgetSpent, EndpointError, ModelFailed, note_text
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ClaimChecker
from quoteweave.generation.answer_text import clip
from quoteweave.generation.citations import with_citations
from quoteweave.generation.gate.claims import Claim, claims_of
from quoteweave.generation.gate.sentence_check import check_sentence, is_factual

MAX_WARNINGS = 10
"""Most warnings of one sort; further ones are only counted."""
SHOWN_CHARACTERS = 120
"""Most characters that a warning quotes of a sentence."""
CITES_NOTHING = "The answer cites nothing: it may say that the documents do not tell what was asked."

_CELL_BORDERS = lazy_regex(r" ?\|[\s|:-]*")  # one space suffices, as a sentence has no two in a row


def check_citations(answer: Answer, context: Context) -> Answer:
    """Put a verdict on each citation of an answer, and add a warning for each factual sentence that cites nothing.

    An answer without citations or such sentences, "I do not know; the documents do not say", gets a warning, too.
    The answer's text stays as it is. `context` must be the one that its marks refer to.
    """
    checked: list[Citation] = []
    uncited: list[str] = []
    for claim, citations in cited_claims(answer):
        if citations:
            text = answer.text[claim.start : claim.end]
            checked += check_sentence(text, citations, context, question=answer.question, statement=claim.sentence)
        elif answer.status == "answered" and is_factual(claim.sentence):
            uncited.append(f"Nothing is cited for “{clip(_without_rules(claim.sentence), SHOWN_CHARACTERS)}”.")
    if answer.status == "answered" and not (checked or uncited or answer.unresolved):
        uncited.append(CITES_NOTHING)
    return with_citations(answer, checked, tuple(dict.fromkeys((*answer.warnings, *limit_warnings(uncited)))))


def _without_rules(sentence: str) -> str:
    """The words of a sentence, without the lines between the cells of a Markdown table."""
    return _CELL_BORDERS.sub(" ", sentence).strip() if sentence.startswith("|") else sentence


async def check_with_model(answer: Answer, context: Context, checker: ClaimChecker) -> Answer:
    """Set `checker_verdict` on each citation: whether all that its sentence cites, together, supports the sentence.

    The checker is called once, with each sentence once. Warnings count the sentences that it does not find supported,
    and those on which it gives no verdict. `checker_verdict` is None if the cited quotes have no words. If the checker
    fails, all verdicts stay None, and a warning gives the reason. Raises ModelNotFound and UsageError.
    """
    cited = [(claim, citations) for claim, citations in cited_claims(answer) if citations and claim.sentence]
    premises = [_premise(citations, context) for _, citations in cited]
    pairs = ((premise, claim.sentence) for premise, (claim, _) in zip(premises, cited, strict=True) if premise)
    unique_pairs = list(dict.fromkeys(pairs))
    if not unique_pairs:
        return answer
    try:
        verdicts = await checker.check(unique_pairs)
    except (EndpointError, ModelFailed, BudgetSpent) as error:
        warning = note_text(f"The checker gave no verdict: {error.summary}", remedy=error.remedy)
        return answer.model_copy(update={"warnings": (*answer.warnings, warning)})
    if len(verdicts) != len(unique_pairs):
        raise ModelFailed(
            f"the checker {checker.name} gave {pluralize(len(verdicts), 'verdict')} "
            f"on {pluralize(len(unique_pairs), 'sentence')}"
        )
    verdict_of_pair = dict(zip(unique_pairs, verdicts, strict=True))
    checked = [
        citation.model_copy(update={"checker_verdict": verdict_of_pair.get((premise, claim.sentence))})
        for premise, (claim, citations) in zip(premises, cited, strict=True)
        for citation in citations
    ]
    return with_citations(answer, checked, (*answer.warnings, *_verdict_warnings(verdicts)))


def cited_claims(answer: Answer) -> list[tuple[Claim, list[Citation]]]:
    """Split an answer into sentences, each with its citations."""
    by_start: dict[int, list[Citation]] = {}
    for citation in answer.citations:
        by_start.setdefault(citation.start, []).append(citation)
    claims = claims_of(answer.text)
    return [
        (claim, [citation for mark in claim.marks for citation in by_start.get(mark.start, ())]) for claim in claims
    ]


def limit_warnings(warnings: Sequence[str]) -> list[str]:
    """Remove repeated warnings, and limit their number to `MAX_WARNINGS`."""
    unique = list(dict.fromkeys(warnings))
    more = len(unique) - MAX_WARNINGS
    return unique if more <= 0 else [*unique[:MAX_WARNINGS], f"…and {more} more of this sort."]


def _verdict_warnings(verdicts: Sequence[bool | None]) -> list[str]:
    """Summarise a checker's verdicts as warnings."""
    of = f"of {len(verdicts)} cited sentence{'s' if len(verdicts) > 1 else ''}"
    warnings = []
    if failed := verdicts.count(False):
        warnings.append(f"The checker does not find {failed} {of} supported by what is cited.")
    if unsaid := verdicts.count(None):
        warnings.append(f"The checker could not say whether {unsaid} {of} is supported.")
    return warnings


def _premise(citations: Iterable[Citation], context: Context) -> str:
    cited = dict.fromkeys((citation.kind, citation.number) for citation in citations)
    quotes = (context.quote(kind, number) for kind, number in cited)
    return "\n".join(text for quote in quotes if quote is not None and (text := quote.shown_text))
