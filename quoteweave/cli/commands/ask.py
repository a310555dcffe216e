"""`quoteweave ask`: answers a question with a citation for every claim."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from quoteweave.cli.answers import AnswerFormat, ask_and_print, write_answer_page
from quoteweave.cli.console import print_notes
from quoteweave.cli.options.collection import (
    DocumentOption,
    JsonOption,
    MetaOption,
    PageOptions,
    PagesOption,
    QuestionArgument,
    make_filter,
)
from quoteweave.cli.options.server import FolderOrNameOption, ServerOption, folder, name_on_server, refuse_others
from quoteweave.cli.options.settings import CHAT, OptionValues, make_settings, takes_options
from quoteweave.cli.progress import TerminalProgress
from quoteweave.cli.terminal_pictures import PicturesOption, pictures_on_stdout, stored_crops_of
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.pipeline.composition.make_rag import make_rag
from quoteweave.pipeline.pictures_for_people import stored_crops
from quoteweave.pipeline.runs.config import read_answer_settings
from quoteweave.pipeline.settings import AnswerSettings, Limits

JSON = """--json prints the answer: question, status (answered, located or abstained), text, blocks (text
and images, with citations), citations (mark, start, end, kind, number, quote_id, document,
page from 0, page_label, bbox, section, has_pages, verdict, reason, checker_verdict, quoted,
page_size, evidence, spans, regions: where it stands on each page, in points and as fractions of the page;
url and image_url, of a server), unresolved, raw, model, usage, price_usd,
seconds, warnings; context: texts and images (the hits that marks refer to), rarity (of the question's words), variety,
places (which the question refers to and documents have), spellings (of what documents write otherwise), synonyms
(of words that no page has), introduced (quotes that others introduce), sentence_ends (that stand in the next text),
cut_sections (texts of sections with more steps), titles (of documents), front_matter (where a question asks for authors
or the like), structure (of a document whose parts are counted); and trace: how they were found.

--events prints a JSON object a line, as it comes: type sources (context, trace), thought (text),
text (text), citation (citation, right after its mark's text), image (summary, image, citation, right after
its citation), and last answer (answer), as above."""


ON_SERVER = frozenset(
    (
        *("question", "collection", "server", "config", "setting", "doc", "pages", "meta", "retriever", "explain"),
        *("model", "images", "events", "pictures", "as_json"),
    )
)
"""Parameters that can be used with --server."""


@takes_options("retriever", "explain", "trust_remote_code", *CHAT, "images")
def ask(
    ctx: typer.Context,
    question: QuestionArgument,
    option_values: OptionValues,
    *,
    collection: FolderOrNameOption = None,
    server: ServerOption = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="TOML file of settings, as quoteweave run takes; docs/runs.md lists the keys. Options come first.",
            metavar="FILE",
        ),
    ] = None,
    setting: Annotated[
        str | None, typer.Option(help="Of several settings in the file, this one.", metavar="NAME")
    ] = None,
    doc: DocumentOption = None,
    pages: PagesOption = None,
    meta: MetaOption = None,
    fallback: Annotated[
        Literal["extractive"] | None,
        typer.Option(
            help="If the model's endpoint fails before any text arrived, answer without it, and say so.",
            metavar="extractive",
        ),
    ] = None,
    page: PageOptions,
    events: Annotated[
        bool, typer.Option("--events", help="Print a JSON object for each event: sources, text, citation, answer.")
    ] = False,
    pictures: PicturesOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents, every claim cited.

    Without --model, the answer consists of the documents' own sentences, and is made
    on this machine. With --model, the question and the quotes found are sent to
    the model's endpoint, unless the model runs on this machine.

    All other settings are in a file of --config: how quotes are fused,
    expanded and reranked, how the model is asked and how long to wait, how
    answers are checked, and when they are withheld.

    With --server, a running server answers by its own settings, with indexes and
    models in memory already; --model names one of its models, or extractive.
    From --config it gets what a request may choose, such as size, gate, and
    abstain, which then names one of its calibrations. The server keeps neither
    question nor answer.
    """
    asked_for: AnswerFormat | None = "json" if as_json else "events" if events else None
    where = make_filter(doc, pages, meta)
    if setting is not None and config is None:
        raise UsageError(
            "--setting names one of the settings of a file, and there is none", remedy="give the file with --config"
        )
    if server is not None:
        from quoteweave.cli.remote import ask_server, remote_collection, settings_to_send

        refuse_others(ctx, ON_SERVER)
        chosen = {**({} if config is None else settings_to_send(config, setting)), **option_values}
        served = remote_collection(server, name_on_server(ctx, collection), where, chosen)
        ask_server(served, question, asked_for, pictures)
        return
    from_file, limits = ({}, Limits()) if config is None else read_answer_settings(config, setting)
    settings = make_settings(AnswerSettings, {**from_file, **option_values})
    with Collection.open(folder(collection)) as opened:
        rag = make_rag(
            opened,
            settings,
            where=where,
            limits=limits,
            fallback=fallback is not None,
            progress=TerminalProgress(quiet=as_json),
        )
        if settings.destination is not None:
            cases = [] if settings.check_topic is False else ["they are about different things"]
            cases += [] if limits.calls is None else [f"{limits.calls} holds the answer"]
            unless = f", unless {' or '.join(cases)}" if cases else ""
            typer.echo(f"sending the question and the quotes found to {settings.destination}{unless}", err=True)
        form = asked_for or ("written" if settings.model else "whole")
        answered = ask_and_print(
            *(form, rag, question),
            model=settings.model,
            where=where,
            pictures=pictures_on_stdout(pictures, stored_crops_of(opened)),
        )
        print_notes(stored_crops(opened, [hit.quote for hit in answered.context.images])[1])
        write_answer_page({opened: [answered]}, question, page)
