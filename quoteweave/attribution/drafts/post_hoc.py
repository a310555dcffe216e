"""Cites a text that somebody has written: each factual sentence gets the passage that supports it, if there is one.

The text itself is not changed: marks are inserted, and a list of references is added after it. ALCE calls this post-hoc
citing (arXiv 2305.14627, section 4).

A factual sentence states something that a source could support. A sentence with a number, a date, a code or quoted
words does. One of words alone does where it reads as a statement: it ends in a full stop, which headings do not, has a
few words of content, and is neither a question, an instruction, the author's own plan, work or opinion, nor about the
text itself. Lists of English words and word order decide this, not a parser; for sentences of another language only
the length counts. A sentence wrongly taken for a statement costs a search, but one wrongly passed over loses a
citation, so that doubtful ones count as statements. `benchmarks/draft_sentences.py` measures how often each happens.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from quoteweave.attribution.drafts.cited_draft import (
    CitedDraft,
    DraftSentence,
    Origin,
    Reference,
    SentenceStatus,
    reference_keys,
)
from quoteweave.attribution.drafts.draft_text import Draft, running_text, without_joiners
from quoteweave.attribution.excerpts import (
    MAX_EXCERPT_CHARACTERS,
    Excerpt,
    claim_of,
    has_citation_mark,
    leading_marks_end,
    without_marks,
)
from quoteweave.attribution.records import Attribution
from quoteweave.core.concurrency.pools import for_each
from quoteweave.core.errors import SourceError, UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.claims import claims_of
from quoteweave.generation.gate.sentence_check import has_figures, is_factual
from quoteweave.pipeline.composition.progress import NO_PROGRESS, Progress

MIN_CONTENT_WORDS = 3
"""Different words, apart from stop words, that a sentence without numbers, codes or quotations needs to be a
statement."""

_CLOSING = r"[\"'”’»“‘«‹›)\]」』）】*_]*"  # “ and « close quotations in German
_FULL_STOP = lazy_regex(rf"[.。]{_CLOSING}\Z")
_QUESTION_OR_LABEL = lazy_regex(rf"[?？:]{_CLOSING}\Z")
# "I" means the author if it begins a clause; in "World War I", "type I" and "complexes III and I" it is a numeral.
_AUTHOR = (
    r"(?:(?:\A|[,;:(–—]\s*)I(?!\s+(?:and|or|to)\s+[IVX]+\b)"
    r"|(?<![IVX\d]\s)\b(?i:and|but|or|nor|so|as|if|that|than|when|while|what|which|who|where|why|how|because|since"
    r"|until|before|after|although|though|whether|then|here|now|year|month|week|time)\s+I(?=\s+[a-z])"
    r"|\bI(?:['’]\w+|\s+(?:am|have|do)))\b"
)
# Words about the author and the reader: plans, work, opinions, thanks. "Thanks to the rain, it grew" is a statement.
_PERSON = lazy_regex(
    rf"{_AUTHOR}|\b(?:[Ww]e|[Uu]s|[Mm]e|[Mm]y|[Oo]urs?|[Yy]ours?|[Yy]ou)\b"
    r"|\A(?:[Mm]any\s+thanks\b|[Tt]hanks\b(?!\s+to\b[^,]*,))"
)
# A verb that tells the reader what to do stands before its object: "Install the package". The verbs are listed, as many
# other words stand before an article: "Often the", "Half a", "Neither the", "Trees the size of".
_INSTRUCTION = lazy_regex(
    r"\A(?:(?:please|let|do|don['’]t|see|suppose|assume|make\s+sure|think\s+of|cf)\b(?!-)"
    r"|(?:note|notice|recall|remember|observe|imagine|check|ensure)\s+(?:that|how|what|whether|also)\b"
    r"|(?:add|adjust|apply|arrange|ask|assign|attach|avoid|bring|build|buy|calculate|call|change|check|choose|clean|click"
    r"|close|collect|combine|compare|compute|configure|connect|consider|consult|copy|count|create|cut|define|delete"
    r"|describe|discuss|divide|download|draw|drop|edit|enter|examine|explain|fill|find|fix|follow|get|give|hold"
    r"|identify|ignore|imagine|insert|inspect|install|keep|label|leave|list|load|look|mark|measure|mix|move|multiply"
    r"|name|note|observe|open|pick|place|plot|pour|prepare|press|print|pull|push|put|read|recall|record|release"
    r"|remember|remove|rename|repeat|replace|restart|rinse|run|save|select|send|set|show|sort|specify|split|start|stir"
    r"|stop|store|take|tell|test|tighten|train|try|turn|type|update|upload|use|verify|visit|wait|wash|watch|wear|wipe"
    r"|write)\s+(?:the|an?|this|these|those|each|every|any|all|both|it|them|your)\s)",
    re.IGNORECASE,
)
_OPINION = lazy_regex(
    r"\b(?:should|ought|would\s+rather)\b"
    r"|\A(?:un?fortunately|fortunately|sadly|luckily|hopefully|admittedly|frankly|regrettably)\b|\Apersonally,",
    re.IGNORECASE,
)
# "It is unclear how" and "This is an important question" are judgements; "It is common in ponds" is a statement.
_JUDGEMENT = lazy_regex(
    r"\A(?:it|this|that|there)(?:['’]s|\s+(?:is|are|was|were|remains?|remained|seems|has\s+been|(?:would|will|may)\s+be))"
    r"(?:\s+(?:\w+ly|an?|the|of|no|not|so|too|very|quite|rather|still|yet|as|many|some))*"
    r"\s+(?:un(?:clear|certain|wise|fair)|wise|foolish|sensible|tempting|worth|surpris(?:e|ing)|pity|shame|mistake"
    r"|(?:important|interesting|remarkable|better|best)\s+(?:to|that)"
    r"|(?:important|interesting|difficult|hard|open|good|fair|key)\s+(?:questions?|points?|issues?|matters?|topics?))\b"
    r"|\A(?:more|further|much)\s+(?:\w+\s+)?(?:research|work|study|studies|data|evidence)\s+(?:is|are)\s+needed\b",
    re.IGNORECASE,
)
_ABOUT_THE_TEXT = lazy_regex(
    r"\b(?:th(?:is|ese)|the\s+(?:next|following|previous|preceding|last|present|remaining|rest\s+of\s+(?:the|this)))"
    r"\s+(?:\w+\s+)?(?:sections?|subsections?|chapters?|paragraphs?|appendix)\b"
    r"|\b(?:this|the\s+(?:present|rest\s+of\s+(?:the|this)))"
    r"\s+(?:\w+\s+)?(?:paper|article|thesis|essay|report|text|book|post|work)\b(?!-)"
    r"|\A(?:as\s+(?:mentioned|shown|discussed|described|noted|stated|explained|seen)\s+(?:above|below|earlier|before)"
    r"|to\s+(?:sum\s+up|summari[sz]e|conclude|begin\s+with)|so\s+much\s+for|in\s+what\s+follows)\b",
    re.IGNORECASE,
)
_NO_STATEMENT = (_PERSON, _INSTRUCTION, _OPINION, _JUDGEMENT, _ABOUT_THE_TEXT)


def is_statement(sentence: str) -> bool:
    """Whether a sentence, without marks and markup, states something that a source could support.

    >>> is_statement("Coral reefs recover slowly after bleaching.")
    True
    >>> is_statement("The next section describes the data and the method.")
    False
    """
    stripped = sentence.strip()
    if _QUESTION_OR_LABEL.search(stripped) or stripped.startswith("#"):
        return False
    if has_figures(stripped):
        return True
    if any(pattern.search(stripped) for pattern in _NO_STATEMENT):
        return False
    return is_factual(stripped) or (
        _FULL_STOP.search(stripped) is not None and len(set(words(stripped))) >= MIN_CONTENT_WORDS
    )


MIN_LETTERS = 6
"""A sentence with fewer letters is a fragment, such as a number alone, and states nothing."""
CONCURRENCY = 8
"""Sentences whose sources are looked for at once."""

_ITEM = lazy_regex(r"(?:[-*+•>]|\d{1,3}[.)])\s+")
_NO_SENTENCE = lazy_regex(r"#|\||```|~~~|!\[")
_NEW_PARAGRAPH = lazy_regex(r"\n[^\S\n]*\r?\n")
_STOP = lazy_regex(rf"[.!?…。！？]+{_CLOSING}$")


class FindsSource(Protocol):
    """Finds the source of one claim, as `Attributor` does."""

    async def attribute_excerpt(self, excerpt: Excerpt) -> Attribution:
        """Return what was found, best candidate first. Raises SourceError where the literature cannot be asked."""
        ...


async def cite_draft(
    documents: FindsSource,
    draft: Draft | str,
    *,
    literature: FindsSource | None = None,
    progress: Progress = NO_PROGRESS,
) -> CitedDraft:
    """Find a source for each factual sentence of a draft; one with a mark such as `[@key]` is left as it is.

    `is_statement` says which sentences are factual. Each is searched for together with its neighbours in the paragraph,
    but checked alone.

    A `draft` given as a string is Markdown with numbers as marks. The `literature` is searched for sentences that the
    `documents` do not support, or only likely support. If it can no longer be searched, what was found is kept, and the
    sentences that were still to be searched for have the status `not_asked`.

    Raises UsageError for a draft without words; for marks that are numbers in LaTeX, or in a draft that has numbered
    marks already, as these could not be told apart; and what `attribute_excerpt` raises, except SourceError.

    >>> attributor = Attributor(collection, Search(LexicalRetriever(collection)))
    >>> asyncio.run(cite_draft(attributor, "The harbour shipped 4,210 tonnes of grain.")).sentences[0].status
    'cited'
    """
    as_draft = Draft(text=draft) if isinstance(draft, str) else draft
    _check(as_draft)
    work = _Citing(documents, literature)
    sentences = _sentences(as_draft)
    positions = [position for position, sentence in enumerate(sentences) if sentence.claim is not None]
    with progress.task("citing", len(positions)) as task:

        async def cite_one(position: int) -> None:
            sentences[position] = await work.cited(sentences[position])
            task.advance()

        await for_each(positions, cite_one, concurrency=CONCURRENCY)
    return _assembled(as_draft, sentences, work.stopped)


def _check(draft: Draft) -> None:
    if not words(draft.text):
        raise UsageError("there is nothing to cite: the draft has no words")
    if draft.form == "latex" and draft.marks == "numbers":
        raise UsageError("a LaTeX draft is cited by keys, as \\cite{key}: name a file for their entries with --bib")
    numbered = parse_marks(draft.text) if draft.marks == "numbers" else []
    if numbered:
        line = draft.text.count("\n", 0, numbered[0].start) + 1
        raise UsageError(
            f"the draft has numbered citation marks already, such as {numbered[0].mark} in line {line}, from which new "
            "ones could not be told: set keys instead, with --bib, or write them as [@key]"
        )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that is being cited: where it stands, what it claims, and what was found for it."""

    start: int
    end: int
    mark_at: int
    status: SentenceStatus
    claim: str | None = None
    """None if no source is looked for."""
    text: str = ""
    """What is searched for: the claim with its neighbours."""
    attribution: Attribution | None = None
    origin: Origin = "documents"


@dataclass(slots=True)
class _Citing:
    """Searches the documents first, and then the literature for as long as it answers."""

    documents: FindsSource
    literature: FindsSource | None
    stopped: list[str] = field(default_factory=list)
    """Why the literature could not be searched; empty if it could."""

    async def cited(self, sentence: _Sentence) -> _Sentence:
        excerpt = Excerpt(mark=None, start=sentence.start, claim=claim_of(sentence.claim or ""), text=sentence.text)
        from_documents = await self.documents.attribute_excerpt(excerpt)
        # A passage that is only likely may be about something else, however many words it shares with the claim.
        if self.literature is None or from_documents.outcome == "supported":
            return _with_source(sentence, from_documents, "documents")
        from_literature = await self._search_literature(excerpt)
        if from_literature is None:
            # A likely passage of the documents is cited; without one, the sentence is still to be searched for.
            return _with_source(sentence, from_documents, "documents", otherwise="not_asked")
        if from_literature.outcome == "supported" or from_documents.outcome == "not_found":
            return _with_source(sentence, from_literature, "literature")
        return _with_source(sentence, from_documents, "documents")

    async def _search_literature(self, excerpt: Excerpt) -> Attribution | None:
        if self.literature is None or self.stopped:
            return None
        try:
            return await self.literature.attribute_excerpt(excerpt)
        except SourceError as error:
            self.stopped.append(str(error))
            return None


def _with_source(
    sentence: _Sentence, attribution: Attribution, origin: Origin, otherwise: SentenceStatus = "no_source"
) -> _Sentence:
    status: SentenceStatus = otherwise
    if attribution.outcome != "not_found":
        status = "cited" if attribution.outcome == "supported" else "likely"
    return replace(sentence, status=status, attribution=attribution, origin=origin)


def _sentences(draft: Draft) -> list[_Sentence]:
    text = running_text(draft.text, draft.form)
    spans = [(claim.start, claim.end) for claim in claims_of(text)]
    sentences = []
    for position, (start, end) in enumerate(spans):
        sentence = text[start:end]
        opening = leading_marks_end(sentence) if position and "\n" not in text[spans[position - 1][1] : start] else 0
        follows = spans[position + 1] if position + 1 < len(spans) else None
        marked = has_citation_mark(sentence[opening:]) or (
            follows is not None and "\n" not in text[end : follows[0]] and leading_marks_end(text[slice(*follows)]) > 0
        )
        status, claim = _status(sentence, marked=marked, every=draft.every_sentence)
        stop = _STOP.search(sentence)
        mark_at = start + (len(sentence) if stop is None else stop.start())
        bullet = _ITEM.match(sentence)
        begin = start if bullet is None else start + bullet.end()
        near = "" if claim is None else _with_neighbours(claim, text, spans, position)
        sentences.append(_Sentence(begin, end, mark_at, status, claim, near))
    return sentences


def _with_neighbours(claim: str, text: str, spans: Sequence[tuple[int, int]], place: int) -> str:
    """A claim with the sentences before and after it in its paragraph, if that is not too long to search for."""
    before = after = ""
    if place and not _NEW_PARAGRAPH.search(text, spans[place - 1][1], spans[place][0]):
        before = _claim(text[slice(*spans[place - 1])])
    if place + 1 < len(spans) and not _NEW_PARAGRAPH.search(text, spans[place][1], spans[place + 1][0]):
        after = _claim(text[slice(*spans[place + 1])])
    near = " ".join(part for part in (before, claim, after) if part)
    return near if len(near) <= MAX_EXCERPT_CHARACTERS else claim


def _claim(text: str) -> str:
    """A sentence on one line, without citation marks and the bullet or number of a list item."""
    return without_marks(without_joiners(_ITEM.sub("", text, count=1) if _ITEM.match(text) else text))


def _status(text: str, *, marked: bool, every: bool) -> tuple[SentenceStatus, str | None]:
    """What becomes of a sentence, and its claim if a source is looked for."""
    claim = _claim(text)
    fragment = sum(map(str.isalpha, claim)) < MIN_LETTERS or not words(claim)
    if _NO_SENTENCE.match(text) or fragment or not (every or is_statement(claim)):
        return "not_factual", None
    if marked:
        return "cited_already", None
    return ("too_long", None) if len(claim) > MAX_EXCERPT_CHARACTERS else ("no_source", claim)


def _assembled(draft: Draft, cited: Sequence[_Sentence], stopped: Sequence[str]) -> CitedDraft:
    """The draft with its references, numbered in the order in which sentences first cite them."""
    references: dict[tuple[Origin, str], Reference] = {}
    sentences = []
    for sentence in cited:
        number = None
        if sentence.status in ("cited", "likely") and sentence.attribution is not None:
            best = sentence.attribution.candidates[0]
            passage = (sentence.origin, best.citation.quote_id)
            references.setdefault(passage, Reference(found=best, origin=sentence.origin))
            number = list(references).index(passage) + 1
        sentences.append(
            DraftSentence(
                start=sentence.start,
                end=sentence.end,
                mark_at=sentence.mark_at,
                text=draft.text[sentence.start : sentence.end],
                status=sentence.status,
                number=number,
                attribution=sentence.attribution,
            )
        )
    numbered = tuple(references.values())
    return CitedDraft(
        draft=draft.text,
        form=draft.form,
        sentences=tuple(sentences),
        references=reference_keys(numbered, draft.text) if draft.marks == "keys" else numbered,
        stopped=stopped[0] if stopped else None,
    )
