"""What `quoteweave attribute` finds in documents and in the literature, printed and as a page."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.sources.papers import describe_paper
from quoteweave.attribution.records import Attribution, Candidate, describe_confidence
from quoteweave.attribution.settings import AttributionSettings
from quoteweave.cli.console import console, plain, print_json, print_notes, shown_name, snippet
from quoteweave.cli.hits import indented_behind
from quoteweave.cli.options.collection import PageOptions
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import EndpointUnreachable, SourceError
from quoteweave.core.records import Filter
from quoteweave.pipeline.composition.make_search import name_chat_model
from quoteweave.pipeline.settings import ChatSettings

PLACES_SEARCHED = ("your documents", "the literature")
"""The names of the places where a source was looked for, shown if both were."""
OUTCOME_WORDS = {
    "supported": "supported by",
    "likely": "likely from",
    "not_found": "not found; the closest passages are in",
}


class FoundSources:
    """The sources found for a sentence: at most `k` candidates each among documents and in the literature."""

    def __init__(self, sentence: str, k: int, settings: AttributionSettings, *, quiet: bool, page: bool) -> None:
        """With `quiet`, no progress is shown; `page` says that a page will be written."""
        self._sentence, self._k, self._page = sentence, k, page
        self._settings, self._progress = name_chat_model(settings), TerminalProgress(quiet=quiet)
        self._attributions: dict[Collection, Sequence[Attribution]] = {}
        self.refused: SourceError | EndpointUnreachable | None = None
        """Why the literature could not be asked, if documents were searched."""

    def add_documents(self, opened: ExitStack, folder: Path, where: Filter) -> None:
        """Search the collection of a folder, which `opened` closes. Raises what `attribute` raises."""
        from quoteweave.attribution.calls import attribute  # imports agents and drafts, needed for documents only

        documents = opened.enter_context(Collection.open(folder))
        attributions = attribute(
            documents, self._sentence, self._k, settings=self._settings, where=where, progress=self._progress
        )
        self._attributions[documents] = attributions

    def add_literature(self, literature: LiteratureAttributor, chat: ChatSettings | None) -> None:
        """Search the literature; if there is a chat model, an agent does so.

        Raises SourceError, and EndpointUnreachable of an agent's model, if nothing else was searched; and what
        `rank_by` and `attribute_by_agent` raise.
        """
        literature.rank_by(self._settings, self._progress)
        try:
            with self._progress.task("searching the literature"):
                attributions = (
                    self._by_agent(literature, chat) if chat is not None else run_sync(self._search(literature))
                )
        except (SourceError, EndpointUnreachable) as error:
            if not self._attributions:
                raise
            self.refused = error
        else:
            self._attributions[literature.collection] = attributions

    def _by_agent(self, literature: LiteratureAttributor, chat: ChatSettings) -> Sequence[Attribution]:
        from quoteweave.attribution.calls import attribute_by_agent
        from quoteweave.pipeline.composition.make_rag import make_chat

        model = make_chat(chat)
        if model is None:
            return run_sync(self._search(literature))
        return attribute_by_agent(literature, self._sentence, model)

    async def _search(self, literature: LiteratureAttributor) -> Sequence[Attribution]:
        """Search the literature, and meanwhile prepare the writing of the page."""
        preparing = asyncio.create_task(asyncio.to_thread(_prepare_page)) if self._page else None
        attributions = await literature.attribute(self._sentence, self._k)
        if preparing is not None:
            await preparing
        return attributions

    def show(self, page: PageOptions, *, as_json: bool) -> None:
        """Print what was found in each collection, and write the page if one is asked for."""
        all_attributions = [attribution for attributions in self._attributions.values() for attribution in attributions]
        print_notes(dict.fromkeys(note for attribution in all_attributions for note in attribution.trace.notes))
        places = PLACES_SEARCHED if len(self._attributions) > 1 else ("",)
        if as_json:
            print_json({"attributions": [attribution.model_dump(mode="json") for attribution in all_attributions]})
        else:
            for place, attributions in zip(places, self._attributions.values(), strict=True):
                _print_all(place, attributions)
        if not page.wanted:
            return
        from quoteweave.attribution.as_answers import CLAIM_WORDING, attribution_as_answer
        from quoteweave.cli.answers import write_answer_page

        answers = {
            collection: [attribution_as_answer(attribution, collection, within=place) for attribution in attributions]
            for place, (collection, attributions) in zip(places, self._attributions.items(), strict=True)
        }
        write_answer_page(answers, self._sentence, page, wording=CLAIM_WORDING)


def _prepare_page() -> None:
    """Import the modules that write the page, which takes long and is only needed for one; compile its template."""
    import quoteweave.attribution.as_answers
    import quoteweave.cli.answers  # noqa: F401
    from quoteweave.pipeline.answer_page.render import prepare_page

    prepare_page()


def _print_all(place: str, attributions: Sequence[Attribution]) -> None:
    if place:
        console().print(plain(f"in {place}:", "dim"))
    for attribution in attributions:
        _print(attribution)


def _print(attribution: Attribution) -> None:
    stdout = console()
    stdout.print(plain(f"{attribution.excerpt.mark or 'the sentence'}  {attribution.excerpt.claim}", "bold"))
    if not attribution.candidates:
        stdout.print(plain(f"  not found: {attribution.reason}"))
        return
    supporting = [candidate for candidate in attribution.candidates if candidate.outcome == "supported"]
    stdout.print(plain(f"  {OUTCOME_WORDS[attribution.outcome]}"))
    if attribution.confidence is not None:
        stdout.print(plain(f"  {describe_confidence(attribution)}", "dim"))
    passage_reason = attribution.candidates[0].citation.reason or ""  # printed with the passage already
    if further_reason := (attribution.reason or "").removeprefix(passage_reason).strip():
        stdout.print(plain(f"  {further_reason}", "dim"))
    for candidate in supporting or attribution.candidates[: 1 if attribution.outcome == "likely" else None]:
        _print_candidate(candidate)


def _print_candidate(candidate: Candidate) -> None:
    citation = candidate.citation
    line = plain(candidate.under(shown_name(candidate.title)), "bold")
    # No score for papers, as their order also depends on other rankings and the gate's verdicts.
    score = f"{candidate.score:.2f}  " if candidate.paper is None else ""
    line.append(f"  {score}{citation.quote_id}\n", style="dim")
    line.append_text(plain(snippet(_from_closest_sentence(candidate), "paragraph")))
    if candidate.paper is not None:
        line.append_text(plain(f"\n{describe_paper(candidate.paper)}, {candidate.paper.url}", "dim"))
    if candidate.note is not None:
        line.append_text(plain(f"\n{candidate.note}", "dim"))
    if citation.reason is not None:
        line.append_text(plain(f"\n{citation.reason}", "dim"))
    stdout = console()
    stdout.print(indented_behind(f"  {candidate.rank:>2}  ", line, stdout.width))


def _from_closest_sentence(candidate: Candidate) -> str:
    """The passage from the sentence that is closest to the claim to its end; for a picture, the whole passage."""
    start = max(candidate.passage.find(candidate.closest), 0) if candidate.kind == "text" else 0
    return f"{'… ' if start else ''}{candidate.passage[start:]}"
