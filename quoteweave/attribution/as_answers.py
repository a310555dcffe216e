"""What attribution found, as answers: they are shown by the same page, with the same boxes, as answers to questions."""

from collections.abc import Sequence

from quoteweave.attribution.checked_passages import MODEL
from quoteweave.attribution.drafts.cited_draft import CitedDraft, Origin, insert_marks
from quoteweave.attribution.drafts.draft_text import (
    marks_in_round_brackets,
    one_line_per_paragraph,
    readable_latex,
    readable_markdown,
    without_joiners,
)
from quoteweave.attribution.literature.sources.papers import describe_paper
from quoteweave.attribution.records import Attribution, Candidate, describe_confidence
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, AnswerStatus, Citation, Context
from quoteweave.core.records import Hit
from quoteweave.generation.answer_text import clip
from quoteweave.generation.citations import build_answer, with_citations
from quoteweave.pipeline.answer_page.sections import Wording
from quoteweave.pipeline.rag import Answered
from quoteweave.pipeline.search import Trace

CLOSEST = "No passage of these documents supports it. The closest:"
SHOWN_CHARACTERS = 300
"""Characters that a warning shows of a sentence, at most."""
DRAFT_WORDING = Wording(
    part="part",
    text="Draft",
    answered="Draft with citations",
    located="Draft",
    abstained="Draft without citations",
    nothing="No sentence of this draft is cited from these documents",
    by_title=True,
)
"""The words of the page that shows a draft."""
CLAIM_WORDING = Wording(
    part="claim",
    text="Claim",
    answered="Source found",
    abstained="No source found",
    nothing="No source was found",
    by_title=True,
)
"""The words of the page that shows claims and their sources."""
LIKELY = "It could not be checked whether this passage supports it:"


def attribution_as_answer(attribution: Attribution, collection: Collection, *, within: str = "") -> Answered:
    """Return the claim as an answer that cites the passages which support it, or shows those that come closest.

    `within` names the part of the collection that was searched, if it was not all of it.
    """
    supporting = [candidate for candidate in attribution.candidates if candidate.outcome == "supported"]
    shown_candidates = supporting or list(attribution.candidates[: 1 if attribution.outcome == "likely" else None])
    context, marks = _context(shown_candidates, collection)
    status: AnswerStatus = "answered" if supporting else "located" if shown_candidates else "abstained"
    places = [f"- {_candidate_name(candidate)} {mark}" for candidate, mark in zip(shown_candidates, marks, strict=True)]
    if supporting:
        text = f"{attribution.excerpt.claim} {' '.join(marks)}"
        if any(candidate.paper is not None for candidate in shown_candidates):
            text = "\n".join([text, "", *places])
    else:
        text = "\n".join([LIKELY if attribution.outcome == "likely" else CLOSEST, "", *places])
    if not supporting and attribution.reason is not None:
        text += f"\n\n{attribution.reason}"
    if attribution.confidence is not None:
        text += f"\n\n{describe_confidence(attribution)}"
    question = f"{attribution.excerpt.claim} ({within})" if within else attribution.excerpt.claim
    answer = _answer(question, text, context, [candidate.citation for candidate in shown_candidates], status)
    return Answered(answer=answer, context=context, trace=attribution.trace)


def _candidate_name(candidate: Candidate) -> str:
    """A candidate's title and place, and what its paper is."""
    parts = [candidate.under(candidate.title), *([] if candidate.paper is None else [describe_paper(candidate.paper)])]
    return ". ".join([*parts, *([] if candidate.note is None else [candidate.note.rstrip(".")])])


def draft_as_answer(cited: CitedDraft, title: str, collection: Collection, *, origin: Origin = "documents") -> Answered:
    """Return the draft as an answer that cites its references; what found no source is among its warnings.

    Only references of the one `origin` are cited, and `collection` holds their documents. There are warnings for the
    origin `documents` alone. A LaTeX draft is shown as running text without commands; headings of Markdown are bold.
    """
    candidates = {
        number: reference.found for number, reference in enumerate(cited.references, 1) if reference.origin == origin
    }
    context, marks = _context(list(candidates.values()), collection)
    marks_shown = dict.fromkeys(range(1, len(cited.references) + 1), "")
    marks_shown |= {number: f" {mark}" for number, mark in zip(candidates, marks, strict=True)}
    latex = cited.form == "latex"
    shown_draft = readable_latex(cited.draft) if latex else cited.draft
    text = insert_marks(marks_in_round_brackets(shown_draft), cited.sentences, marks_shown)
    if latex:
        text = one_line_per_paragraph(text)
    elif cited.form == "markdown":
        text = readable_markdown(text)
    listed = ("no_source", "not_asked", "too_long") if origin == "documents" else ()
    spans = ((sentence.start, sentence.end) for sentence in cited.sentences if sentence.status in listed)
    uncited = (without_joiners(shown_draft[start:end]) for start, end in spans)
    warnings = tuple(f"No passage was found to support “{clip(sentence, SHOWN_CHARACTERS)}”" for sentence in uncited)
    citations = [citation for number in candidates for citation in cited.citations(number)]
    answer = _answer(title, text, context, citations, "answered" if candidates else "abstained", warnings)
    return Answered(answer=answer, context=context, trace=Trace(clauses=()))


def _context(candidates: Sequence[Candidate], collection: Collection) -> tuple[Context, list[str]]:
    """The passages as a context, and the mark of each."""
    hits: dict[str, list[Hit]] = {"text": [], "image": []}
    marks = []
    for candidate in candidates:
        quote = collection.quote(candidate.citation.quote_id)
        same_kind = hits[candidate.kind]
        same_kind.append(Hit(rank=len(same_kind) + 1, score=candidate.score, quote=quote))
        marks.append(f"[{len(same_kind)}]" if candidate.kind == "text" else f"![](image{len(same_kind)})")
    return Context(texts=tuple(hits["text"]), images=tuple(hits["image"])), marks


def _answer(
    question: str,
    text: str,
    context: Context,
    citations: Sequence[Citation],
    status: AnswerStatus,
    warnings: tuple[str, ...] = (),
) -> Answer:
    """Build the answer; each of its citations keeps the verdict and the words that were found for it.

    `citations` has those of each passage in the order of its marks; the last one serves any further marks.
    """
    answer = build_answer(question, text, context, model=MODEL, status=status, warnings=warnings)
    waiting: dict[str, list[Citation]] = {}
    for citation in citations:
        waiting.setdefault(citation.quote_id, []).append(citation)

    def next_of(passage: list[Citation]) -> Citation:
        return passage.pop(0) if len(passage) > 1 else passage[0]

    return with_citations(answer, [_placed(built, next_of(waiting[built.quote_id])) for built in answer.citations])


def _placed(built: Citation, checked: Citation) -> Citation:
    update = {"mark": built.mark, "start": built.start, "end": built.end, "number": built.number}
    return checked.model_copy(update=update)
