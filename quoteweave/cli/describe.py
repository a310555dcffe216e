"""`quoteweave describe`: a vision model writes what the pictures of a collection show."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quoteweave.cli.endpoint_options import CallLimitOption, RetriesOption, TimeoutOption
from quoteweave.cli.indexing import Building, bring_up_to_date
from quoteweave.cli.judging import (
    ApiKeyOption,
    BaseUrlOption,
    ConcurrencyOption,
    UsdOption,
    YesOption,
    price_of,
    say_price,
    sent_to,
)
from quoteweave.cli.model_options import CallsOption
from quoteweave.cli.options import CollectionOption, JsonOption
from quoteweave.cli.retrieving import Finding, tell
from quoteweave.core.messages import counted

if TYPE_CHECKING:
    from quoteweave.collection.collection import Collection
    from quoteweave.core.answers import Usage
    from quoteweave.pipeline.describing import Picture, PictureDescriber, Survey

JSON = """--json prints one object:

model, prompt (SHA-256): what described; pictures: asked for now; described: of these; failed: picture to reason;

quotes: image quotes that say something new; without_crop: image quotes of which no picture is stored;

tokens: input, output; price_usd: null where not known; index_notes: indexes that could not be kept in step."""
MOST_ERRORS = 5  # that are told


def describe(
    collection: CollectionOption,
    model: Annotated[
        str | None,
        typer.Option(
            help="The vision model, else that of QUOTEWEAVE_MODEL; local=PATH is one on this machine.", metavar="NAME"
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    api_key: ApiKeyOption = None,
    prompts: Annotated[Path | None, typer.Option(help="Folder with a describe.txt of your own.", metavar="DIR")] = None,
    concurrency: ConcurrencyOption = 8,
    limit: Annotated[int | None, typer.Option(min=1, help="Describe N pictures at most.", metavar="N")] = None,
    usd_per_million: UsdOption = None,
    timeout_s: TimeoutOption = None,
    call_limit_s: CallLimitOption = None,
    retries: RetriesOption = None,
    calls: CallsOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Have a vision model write what figures, charts, tables and scanned pages show.

    The words are searched like any other, stand for the picture before models
    that cannot see, and are what NAME@vlm_text reads. Tokens and price are said
    before. Each description is kept as soon as it is there: the same command
    again asks only for pictures that have none. Pictures that failed give exit
    code 1.
    """
    from quoteweave.cli.judging import judge_of
    from quoteweave.collection.collection import Collection
    from quoteweave.pipeline.describing import PictureDescriber
    from quoteweave.pipeline.settings import ModelSettings

    waits = {"timeout_s": timeout_s, "call_limit_s": call_limit_s, "retries": retries}
    given = {"model": model, "prompts": prompts, "calls": calls, "base_url": base_url, "api_key": api_key, **waits}
    settings = ModelSettings.from_environment(given)
    with Collection.open(collection) as opened:
        describer = PictureDescriber(judge_of(settings), opened, prompts_folder=settings.prompts)
        survey = describer.survey()
        if survey.cut:
            tell("note: the last description was cut short, and its picture is described again")
        left = list(survey.left[:limit])
        price = price_of(settings, usd_per_million)
        failed: dict[str, str] = {}
        spent = [0, 0]
        if left:
            share = len(left) / len(survey.left)
            _say(survey, len(left), settings.model)
            tokens = round(survey.input_tokens * share), round(survey.output_tokens * share)
            say_price(tokens, price, sent_to("pictures and captions", settings), yes=yes)
            failed, spent = _ask(describer, left, concurrency)
        told, notes = _store(describer, opened)
        notes += bring_up_to_date(opened, Building(Finding(), quiet=as_json))
    cost = None if price is None else price.of(*spent)
    value = {
        "model": describer.model.name,
        "prompt": describer.prompt.sha256,
        "pictures": len(left),
        "described": len(left) - len(failed),
        "failed": failed,
        "quotes": told,
        "without_crop": survey.without_crop,
        "tokens": {"input": spent[0], "output": spent[1]},
        "price_usd": cost,
        "index_notes": notes,
    }
    _show(value, failed, notes, as_json=as_json)
    if failed:
        raise typer.Exit(1)


def _say(survey: "Survey", pictures: int, model: str | None) -> None:
    done = f"; {survey.done} have been described" if survey.done else ""
    typer.echo(f"{counted(pictures, 'picture')} to describe with {model}{done}", err=True)


def _ask(
    describer: "PictureDescriber", pictures: "list[Picture]", concurrency: int
) -> tuple[dict[str, str], list[int]]:
    """Asks, with a bar on a terminal; what failed, and the tokens in and out."""
    from quoteweave.cli.output import counting
    from quoteweave.core.crossing import wait_for

    spent = [0, 0]
    with counting("describing", len(pictures)) as bar:

        def on_done(usage: "Usage") -> None:
            spent[0] += usage.input_tokens or 0
            spent[1] += usage.output_tokens or 0
            bar.advance()

        return wait_for(describer.describe(pictures, concurrency=concurrency, on_done=on_done)), spent


def _store(describer: "PictureDescriber", collection: "Collection") -> tuple[int, list[str]]:
    """Gives the quotes their words, and brings the indexes up to date; how many quotes, and notes."""
    from quoteweave.index.sync import refresh_indexes

    said = {
        document.name: words
        for document, _, quotes in collection.iter_documents_quotes()
        if (words := describer.words(quotes))
    }
    if not (said or collection.may_have_traces()):
        return 0, []
    with collection.writer() as writer:
        writer.describe(said)
        refresh_indexes(collection, writer)  # what it could not do, is told when the encoders are asked for the rest
        remains = writer.finish_removals()
    return sum(map(len, said.values())), list(remains)


def _show(value: dict[str, object], failed: dict[str, str], notes: list[str], *, as_json: bool) -> None:
    from quoteweave.cli.output import print_json, printable

    if as_json:
        print_json(value)
        return
    typer.echo(
        f"{counted(int(str(value['described'])), 'picture')} described, {len(failed)} failed; "
        f"{counted(int(str(value['quotes'])), 'quote says', 'quotes say')} more now"
    )
    if value["without_crop"]:
        typer.echo(f"note: of {value['without_crop']} image quotes no picture is stored", err=True)
    for note in notes:
        typer.echo(printable(f"note: {note}"), err=True)
    for image, error in list(failed.items())[:MOST_ERRORS]:
        typer.echo(printable(f"failed: {image}: {error}"), err=True)
    if len(failed) > MOST_ERRORS:
        typer.echo(f"and {counted(len(failed) - MOST_ERRORS, 'other')}; the same command asks again", err=True)
