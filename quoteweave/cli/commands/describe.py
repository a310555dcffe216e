"""`quoteweave describe`: has a vision model describe the pictures of a collection."""

import typer

from quoteweave.cli.console import print_failures, print_json, print_notes
from quoteweave.cli.eval.paid import confirm_price, destination_notice, judge_price
from quoteweave.cli.options.collection import CollectionOption, JsonOption
from quoteweave.cli.options.evaluation import ConcurrencyOption, LimitOption, PriceOption, YesOption
from quoteweave.cli.options.settings import JUDGING, CallsOption, OptionValues, make_settings, takes_options
from quoteweave.cli.progress import TerminalProgress
from quoteweave.collection.collection import Collection
from quoteweave.core.messages import pluralize
from quoteweave.pipeline.composition.describe import (
    DescribeOptions,
    DescribeReport,
    PendingDescriptions,
    describe_collection,
)
from quoteweave.pipeline.settings import ChatSettings

JSON = """--json prints one object:

model, prompt (SHA-256): what described; pictures: asked for now; described: of these; failed: picture to reason;

quotes: image quotes that say something new; without_crop: image quotes of which no picture is stored;

tokens: input, output; price_usd: null where not known; notes: descriptions that were lost or may be cut short;

index_notes: indexes that could not be kept in step."""


@takes_options(*JUDGING)
def describe(
    collection: CollectionOption,
    option_values: OptionValues,
    concurrency: ConcurrencyOption = 8,
    limit: LimitOption = None,
    usd_per_million: PriceOption = None,
    calls: CallsOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Have a vision model write what figures, charts, tables and scanned pages show.

    The words are searched like any other, stand for the picture before models
    that cannot see, and are what NAME@vlm_text reads. Tokens and price are
    printed first. Each description is saved at once: run the same command again
    to ask only for pictures that have none. Pictures that failed give exit
    code 1.
    """
    settings = make_settings(ChatSettings, option_values)
    price = judge_price(settings, usd_per_million)

    def before(pending: PendingDescriptions) -> None:
        done_note = f"; {pending.done} have been described" if pending.done else ""
        typer.echo(f"{pluralize(pending.pictures, 'picture')} to describe with {pending.model}{done_note}", err=True)
        tokens = pending.input_tokens, pending.output_tokens
        confirm_price(tokens, price, destination_notice("pictures and captions", settings), yes=yes)

    options = DescribeOptions(limit=limit, concurrency=concurrency, calls=calls)
    with Collection.open(collection) as opened:
        report = describe_collection(opened, settings, options, before=before, progress=TerminalProgress(quiet=as_json))
    cost = None if price is None else price.of(report.input_tokens, report.output_tokens)
    _show(report, cost, as_json=as_json)
    if report.failed:
        raise typer.Exit(1)


def _show(report: DescribeReport, cost: float | None, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "model": report.model,
                "prompt": report.prompt,
                "pictures": report.pictures,
                "described": report.described,
                "failed": dict(report.failed),
                "quotes": report.quotes,
                "without_crop": report.without_crop,
                "tokens": {"input": report.input_tokens, "output": report.output_tokens},
                "price_usd": cost,
                "notes": list(report.notes),
                "index_notes": list(report.index_notes),
            }
        )
        return
    typer.echo(
        f"{pluralize(report.described, 'picture')} described, {len(report.failed)} failed; "
        f"{pluralize(report.quotes, 'quote has', 'quotes have')} new words now"
    )
    if report.without_crop:
        print_notes([f"of {pluralize(report.without_crop, 'image quote')} no picture is stored"])
    print_notes(report.index_notes)
    print_failures(report.failed, "picture")
