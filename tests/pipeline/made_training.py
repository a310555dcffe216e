"""Examples to be trained with, of quotes that say who they are."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from builders import make_quote

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Reference
from quoteweave.core.records import Hit, Kind, Query
from quoteweave.core.text.marks import parse_marks


def hit(kind: Kind, number: int, *, picture: bool = True) -> Hit:
    name = f"{kind}{number}"
    image = f"images/{name}.png" if kind == "image" and picture else None
    quote = make_quote(f"said by {name}", id=name, page=number, bbox=(0, 0, 0, 0), kind=kind, image=image)
    return Hit(rank=number, score=1 / number, quote=quote)


def example(
    name: str = "q1",
    answer: str | None = "Twelve ships [1]. ![ships](image2)",
    gold: Collection[str] = ("text1", "image2"),
    *,
    texts: int = 12,
    images: int = 8,
) -> Example:
    return Example(
        id=name,
        query=Query(text="How many ships?"),
        document="report.pdf",
        context=Context(
            texts=tuple(hit("text", number) for number in range(1, texts + 1)),
            images=tuple(hit("image", number) for number in range(1, images + 1)),
        ),
        reference=Reference(answer=answer, relevant=dict.fromkeys(gold, 1)),
    )


def quotes_of(line: Mapping[str, Any]) -> dict[tuple[str, int], str]:
    """Who stands at each number of a line of pure text, as its prompt says."""
    prompt = line["messages"][1]["content"]
    matches = re.findall(r"^(?:\[|(image))(\d+)\]? \(.*\n    said by (\w+)$", prompt, re.MULTILINE)
    return {(kind or "text", int(number)): name for kind, number, name in matches}


def cited(line: Mapping[str, Any]) -> list[str]:
    """Who the answer of such a line cites, in order. Raises KeyError for a mark that names nobody."""
    names = quotes_of(line)
    answer = line["messages"][2]["content"]
    return [names[mark.kind, number] for mark in parse_marks(answer) for number in mark.numbers]
