"""`quoteweave ask`: a question, and an answer whose every claim is cited."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from quoteweave.cli.answer_output import Form, answered_as
from quoteweave.cli.checking import CheckOption, checker_named
from quoteweave.cli.endpoint_options import CallLimitOption, RetriesOption, TimeoutOption, patience_of
from quoteweave.cli.model_options import (
    ApiKeyOption,
    BaseUrlOption,
    CallsOption,
    ExtraOption,
    ImagesOption,
    ImageUrlsOption,
    MaxPicturesOption,
    MaxPixelsOption,
    MaxTokensOption,
    ModelOption,
    PromptsOption,
    TemperatureOption,
    ThinkingOption,
    WindowOption,
    Writing,
    model_settings,
)
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
from quoteweave.cli.ordering import AnswerWithOption, scorer_named
from quoteweave.cli.output import printable, writing_output
from quoteweave.cli.retrieving import (
    DEFAULT,
    BatchSizeOption,
    DeviceOption,
    ExpandOption,
    ExplainOption,
    Finding,
    FusionOption,
    RerankOption,
    RetrieversOption,
    TermsOption,
    TrustOption,
    hardware_for,
    make_search,
    read_all_terms,
    recorded,
)
from quoteweave.cli.terminal_pictures import PicturesName, PicturesOption, pictures_on_stdout

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.core.confidence import Calibration
    from quoteweave.generation.gate import Policy
    from quoteweave.pipeline.answer_sections import AnswerView
    from quoteweave.pipeline.rag import Answered
    from quoteweave.pipeline.settings import ModelSettings

JSON = """--json prints the answer: question, status (answered, located or abstained), text, blocks (text
and images, with citations), citations (mark, start, end, kind, number, quote_id, document,
page from 0, page_label, bbox, section, has_pages, verdict, reason, entailed, quoted,
page_size, evidence, spans), unresolved, raw, model, usage, price_usd,
seconds, warnings; context: texts and images, the hits that marks refer to, and rarity, of the question's words; and
trace: how they were found.

--events prints a JSON object a line, as it comes: type sources (context, trace), thought (text),
text (text), citation (citation, right behind its mark's text), and last answer (answer), as above."""


class FallbackName(StrEnum):
    """What answers where a model cannot."""

    EXTRACTIVE = "extractive"


class GateName(StrEnum):
    """What becomes of what the quotes do not support."""

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
    terms: TermsOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    explain: ExplainOption = False,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    trust_remote_code: TrustOption = False,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    api_key: ApiKeyOption = None,
    images: ImagesOption = True,
    max_pictures: MaxPicturesOption = None,
    max_pixels: MaxPixelsOption = None,
    image_urls: ImageUrlsOption = None,
    window: WindowOption = None,
    prompts: PromptsOption = None,
    max_tokens: MaxTokensOption = None,
    temperature: TemperatureOption = None,
    thinking: ThinkingOption = None,
    timeout_s: TimeoutOption = None,
    call_limit_s: CallLimitOption = None,
    retries: RetriesOption = None,
    calls: CallsOption = None,
    extra: ExtraOption = None,
    gate: Annotated[
        GateName,
        typer.Option(
            help="Sentences whose numbers, dates or quoted words are not in what they cite: report, drop them."
        ),
    ] = GateName.REPORT,
    check: CheckOption = None,
    abstain: Annotated[
        Path | None,
        typer.Option(help="Abstain below the confidence that eval calibrate wrote here.", metavar="FILE"),
    ] = None,
    any_topic: Annotated[
        bool, typer.Option("--any-topic", help="Ask the model even where what was found is about something else.")
    ] = False,
    fallback: Annotated[
        FallbackName | None,
        typer.Option(
            help="Where the model's endpoint fails at once, answer without it, and say so.", metavar="extractive"
        ),
    ] = None,
    answer_with: AnswerWithOption = None,
    html: Annotated[Path | None, typer.Option(help="Write the answer and its pages here.", metavar="FILE")] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the answer in the browser.")] = False,
    stream: Annotated[bool, typer.Option(help="Print what a model writes as it comes.")] = True,
    events: Annotated[
        bool, typer.Option("--events", help="Print a JSON object for each event: sources, text, citation, answer.")
    ] = False,
    pictures: PicturesOption = PicturesName.AUTO,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents, every claim cited.

    Without --model the answer is put together from the documents' own sentences,
    on this machine alone. With one, the question and the quotes found are sent to
    its endpoint; a local one runs on this machine.
    """
    from quoteweave.collection.collection import Collection
    from quoteweave.pipeline.gating import Gate
    from quoteweave.pipeline.rag import Rag
    from quoteweave.pipeline.settings import make_chat, make_generator
    from quoteweave.pipeline.views import stored_crops
    from quoteweave.retrievers.step_registry import Chats

    patience, own = patience_of(timeout_s, call_limit_s, retries), read_all_terms(terms)
    how = (retriever, fusion, expand, rerank, device, batch_size, trust_remote_code, patience)
    finding = Finding(*how, explain=explain, terms=own)
    endpoint = (base_url, api_key, timeout_s, call_limit_s, retries, calls)
    sampling = (max_tokens, temperature, thinking)
    writing = Writing(
        model,
        *endpoint,
        *sampling,
        images,
        max_pictures=max_pictures,
        max_pixels=max_pixels,
        image_urls=image_urls,
        prompts=prompts,
        extra=extra,
    )
    settings, where = model_settings(writing, hardware_for(finding)), make_filter(doc, pages, meta)
    chat = make_chat(settings)
    chats = Chats(chat, prompts=prompts)
    checker = checker_named(check, settings, chats)
    calibration = _calibration(abstain, finding, settings, answer_with)
    instead = "is to write: leave out --answer-with or the model, or add --fallback extractive"
    order = scorer_named(answer_with, settings, patience, instead=None if fallback else instead)
    tell_if_empty(question)
    with Collection.open(collection) as opened:
        search = make_search(opened, finding, where, chats)
        passing = Gate(_policy(gate), checker, calibration, on_topic=chat is not None and not any_topic, pages=opened)
        generator = make_generator(settings, opened, chat, fallback=fallback is not None, order=order)
        rag = Rag(search, generator, gate=passing, window=settings.read(window))
        if settings.destination is not None:
            if calls is None:  # which may hold the answer
                settings.check_address()
            unless = "" if calls is None else f", unless {calls} holds the answer"
            typer.echo(f"sending the question and the quotes found to {settings.destination}{unless}", err=True)
        form = Form.JSON if as_json else Form.EVENTS if events else Form.WRITTEN if stream and chat else Form.WHOLE
        answered = answered_as(
            form, rag, question, where, model=settings.model, pictures=pictures_on_stdout(pictures, opened)
        )
        _tell(stored_crops(opened, [hit.quote for hit in answered.context.images])[1])
        target = html or (_temporary_page() if open_it else None)
        if target is not None:
            write_page([answered], opened, target, title=question)
            typer.echo(f"\n{target}", err=True)
    if open_it and target is not None:
        typer.launch(str(target))


def _policy(gate: GateName) -> "Policy | None":
    return None if gate is GateName.OFF else cast("Policy", gate.value)


def _calibration(
    path: Path | None, finding: Finding, settings: "ModelSettings", answer_with: str | None
) -> "Calibration | None":
    from quoteweave.core.confidence import load_calibration, model_name, retriever_name

    if path is None:
        return None
    steps = {"fusion": finding.fusion, "expand": finding.expand, "rerank": finding.rerank, **recorded(finding.terms)}
    retriever = retriever_name(finding.retrievers or [DEFAULT], **steps)
    return load_calibration(path, retriever=retriever, model=model_name(settings.model, answer_with))


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
    crops, lost_crops = stored_crops(collection, [hit.quote for hit in context.images])
    pages, lost_pages = cited_pages(collection, answered.answer)
    _tell(lost_pages)
    warnings = (*answered.answer.warnings, *lost_crops, *lost_pages)
    answer = answered.answer.model_copy(update={"warnings": warnings})
    return AnswerView(
        answer=answer,
        context=context,
        pages=tuple(pages),
        crops=crops,
        read=answered.trace.read,
        reasons=answered.trace.reasons,
    )


def _tell(notes: Sequence[str]) -> None:
    for note in notes:
        typer.echo(printable(f"note: {note}"), err=True)


def _temporary_page() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix="quoteweave-")) / "answer.html"
