"""`quoteweave ask`: a question, and an answer whose every claim is cited."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from quoteweave.cli.options import (
    CollectionOption,
    DocumentOption,
    JsonOption,
    MetaOption,
    PagesOption,
    QuestionArgument,
    make_filter,
    tell_if_empty,
)
from quoteweave.cli.output import console, plain, print_json, printable, writing_output
from quoteweave.cli.retrieving import (
    BatchSizeOption,
    DeviceOption,
    ExpandOption,
    Finding,
    FusionOption,
    RerankOption,
    RetrieversOption,
    TrustOption,
    make_search,
    tell_trace,
)

if TYPE_CHECKING:
    from quoteweave.core.answers import Answer, Citation
    from quoteweave.generation.gate import Policy
    from quoteweave.index.collection import Collection
    from quoteweave.pipeline.answer_sections import AnswerView
    from quoteweave.pipeline.rag import Answered

JSON = """--json prints the answer: question, status (answered or abstained), text, blocks (text
and images, with citations), citations (mark, start, end, kind, number, quote_id, document,
page from 0, page_label, bbox, verdict, reason, entailed), unresolved, raw, model, usage, seconds,
warnings; context: texts and images, the hits that marks refer to; and trace: how they were found."""


class GateName(StrEnum):
    """What becomes of what the quotes do not bear out."""

    REPORT = "report"
    DROP = "drop"
    REFUSE = "refuse"
    OFF = "off"


def ask(
    question: QuestionArgument,
    collection: CollectionOption,
    doc: DocumentOption = None,
    pages: PagesOption = None,
    meta: MetaOption = None,
    retriever: RetrieversOption = None,
    fusion: FusionOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    trust_remote_code: TrustOption = False,
    model: Annotated[
        str | None,
        typer.Option(help="Have this chat model write the answer. [env: QUOTEWEAVE_MODEL]", metavar="NAME"),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Its OpenAI-compatible endpoint. [env: OPENAI_BASE_URL]", metavar="URL")
    ] = None,
    api_key: Annotated[str | None, typer.Option(help="Its key. [env: OPENAI_API_KEY]", metavar="KEY")] = None,
    images: Annotated[bool, typer.Option(help="Send the model pictures, not only their text.")] = True,
    prompts: Annotated[Path | None, typer.Option(help="Folder with prompt files of your own.", metavar="DIR")] = None,
    gate: Annotated[
        GateName,
        typer.Option(
            help="Sentences whose numbers, dates or quoted words are not in what they cite: report, drop them."
        ),
    ] = GateName.REPORT,
    html: Annotated[Path | None, typer.Option(help="Write the answer and its pages here.", metavar="FILE")] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the answer in the browser.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents, every claim cited.

    Without --model the answer is put together from the documents' own sentences,
    on this machine alone. With one, the question and the quotes found are sent to
    its endpoint.
    """
    from quoteweave.index.collection import Collection
    from quoteweave.pipeline.rag import Rag
    from quoteweave.pipeline.settings import ModelSettings, make_chat, make_generator

    given = {"model": model, "base_url": base_url, "api_key": api_key, "images": images, "prompts": prompts}
    settings, where = ModelSettings.from_environment(given), make_filter(doc, pages, meta)
    finding = Finding(retriever, fusion, expand, rerank, device, batch_size, trust_remote_code)
    tell_if_empty(question)
    with Collection.open(collection) as opened:
        search = make_search(opened, finding, where, make_chat(settings))
        rag = Rag(search, make_generator(settings, opened), gate=_policy(gate))
        if settings.destination is not None:
            typer.echo(f"sending the question and the quotes found to {settings.destination}", err=True)
        answered = rag.answer_with_context(question, where=where)
        tell_trace(answered.trace)
        if as_json:
            print_json(answer_json(answered))
        else:
            print_answer(answered.answer)
        target = html or (_temporary_page() if open_it else None)
        if target is not None:
            write_page([answered], opened, target, title=question)
            typer.echo(f"\n{target}", err=True)
    if open_it and target is not None:
        typer.launch(str(target))


def _policy(gate: GateName) -> "Policy | None":
    return None if gate is GateName.OFF else cast("Policy", gate.value)


def answer_json(answered: "Answered") -> dict[str, object]:
    """The documented JSON object: the answer's record, its context, and how that was found."""
    context, trace = (part.model_dump(mode="json") for part in (answered.context, answered.trace))
    return {**answered.answer.model_dump(mode="json"), "context": context, "trace": trace}


def write_page(answers: "list[Answered]", collection: "Collection", path: Path, *, title: str) -> None:
    """Write answers as one self-contained HTML file. Raises StorageError when it cannot be written."""
    from quoteweave.pipeline.answer_page import render_answers

    page = render_answers([_view(answered, collection) for answered in answers], title)
    with writing_output(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, "utf-8")


def _view(answered: "Answered", collection: "Collection") -> "AnswerView":
    from quoteweave.pipeline.answer_page import AnswerView
    from quoteweave.pipeline.views import cited_pages, stored_crops

    context = answered.context
    crops = stored_crops(collection, [hit.quote for hit in context.images])
    pages = tuple(cited_pages(collection, answered.answer))
    return AnswerView(answer=answered.answer, context=context, pages=pages, crops=crops)


def _temporary_page() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix="quoteweave-")) / "answer.html"


def print_answer(answer: "Answer") -> None:
    """The answer and where each mark leads, as readable text on stdout."""
    out = console()
    out.print(plain(answer.text.strip()))
    if answer.citations:
        out.print()
    for mark, citation in _by_mark(answer.citations).items():
        line = plain("").append(f"{mark:<9}", style="bold")
        line.append_text(plain(f" {citation.document}, page {citation.page_label}"))
        line.append(f"  {citation.quote_id}", style="dim")
        out.print(line)
    for citation in answer.citations:
        if citation.verdict == "unsupported":
            typer.echo(printable(f"note: {citation.mark} does not bear out what cites it: {citation.reason}"), err=True)
    for warning in answer.warnings:
        typer.echo(printable(f"note: {warning}"), err=True)


def _by_mark(citations: "tuple[Citation, ...]") -> "dict[str, Citation]":
    """One citation for each quote, by the name that the answer gives it."""
    named = ((f"[{c.number}]" if c.kind == "text" else f"image{c.number}", c) for c in citations)
    return dict(named)
