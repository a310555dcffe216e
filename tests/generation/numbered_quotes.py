"""A context whose quotes are told apart by kind and number alone."""

from quoteweave.core.answers import Context
from quoteweave.core.records import Hit, Kind, Quote


def quotes(kind: Kind, count: int) -> tuple[Hit, ...]:
    return tuple(
        Hit(
            rank=number,
            score=1 / number,
            quote=Quote(
                id=f"{kind}:{number}",
                document="report.pdf",
                page=number,
                page_label=f"p{number}",
                bbox=(0, 0, 10, number),
                kind=kind,
                layout="paragraph" if kind == "text" else "chart",
                image=f"ab/{number}.png" if kind == "image" else None,
            ),
        )
        for number in range(1, count + 1)
    )


CONTEXT = Context(texts=quotes("text", 5), images=quotes("image", 2))
