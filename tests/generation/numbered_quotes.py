"""A context whose quotes are told apart by kind and number alone."""

from builders import make_hits, make_quote

from quoteweave.core.answers import Context
from quoteweave.core.records import Hit, Kind, Layout


def quotes(kind: Kind, count: int) -> tuple[Hit, ...]:
    layout: Layout = "paragraph" if kind == "text" else "chart"
    return tuple(
        make_hits(
            make_quote(
                id=f"{kind}:{number}",
                page=number,
                page_label=f"p{number}",
                bbox=(0, 0, 10, number),
                layout=layout,
                image=f"ab/{number}.png" if kind == "image" else None,
            )
            for number in range(1, count + 1)
        )
    )


CONTEXT = Context(texts=quotes("text", 5), images=quotes("image", 2))
