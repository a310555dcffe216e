"""Mishaps of models: endpoints that answer with other ids, marks and forms than they were asked for."""

# ruff: noqa: D103 - the name of each says what is tried

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mishaps import WORDS, Place, attack

from quoteweave.testing import ModelServer, Reply

ESCAPE = "\x1b"
URL = "OPENAI_BASE_URL"


def asked(place: Place, said: str | Reply, *options: object) -> str:
    """What `ask` prints if a model gives this reply."""
    place.write("a.md", WORDS.format("Arnfeld"))
    place.add()
    reply = said if isinstance(said, Reply) else Reply(text=said)
    with ModelServer(lambda _: reply) as server:
        given = ("Which harbour received grain in 1874?", "--model", "m", "-c", place.collection, *options)
        return place.run("ask", *given, **{URL: server.base_url}, OPENAI_API_KEY="sk-1234567890")


@attack
def marks_of_quotes_that_were_not_given(place: Place) -> bool:
    found = json.loads(asked(place, "Arnfeld did [7][0][-1][999999999999999999999][٣].", "--json"))
    return not found["citations"] and bool(found["warnings"])


@attack
def an_answer_of_ten_thousand_marks(place: Place) -> bool:
    return bool(asked(place, "Arnfeld did " + "[1]" * 10_000 + "."))


@attack
def an_answer_with_escapes_and_scripts(place: Place) -> bool:
    page = place.root / "page.html"
    answer = f"{ESCAPE}]0;owned\x07<script>alert(1)</script> <img src=x onerror=alert(1)> Arnfeld [1]."
    asked(place, answer, "--html", page)
    return ESCAPE not in place.said and "<script>alert" not in page.read_text() and "<img src=x" not in page.read_text()


@attack
def an_answer_of_nothing_but_marks(place: Place) -> bool:
    asked(place, "[1][1][1]")
    return bool(place.said)


@attack
def an_answer_of_zeros_and_lone_surrogates(place: Place) -> bool:
    body = b'{"choices":[{"message":{"content":"\\ud800 \\u0000 Arnfeld \\udfff [1]."},"finish_reason":"stop"}]}'
    asked(place, Reply(body=body), "--json")
    return bool(place.said)


@attack
def an_answer_in_another_choice_and_with_other_types(place: Place) -> bool:
    for choices in ([], [None], [{"message": None}], [{"message": {"content": 5}}], [{"index": 7}], {"a": 1}, "x"):
        place.failed = False
        asked(place, Reply(body=json.dumps({"choices": choices}).encode()))
        if not place.failed:
            place.said += f" <- {choices}"
            return False
    return True


def searched(place: Place, answers: Mapping[str, Any], *options: str) -> str:
    """What `search` prints over three documents with a reranker that gives these answers."""
    for town in ("Arnfeld", "Brede", "Celle"):
        place.write(f"{town}.md", WORDS.format(town))
    if not place.collection.exists():
        place.add()
    with ModelServer(lambda _: Reply(body=json.dumps(answers).encode())) as server:
        rerank = f"endpoint:m@{server.base_url}"
        return place.run("search", "harbour Brede", "-c", place.collection, "--rerank", rerank, "--json", *options)


def scores(*pairs: tuple[object, object]) -> dict[str, object]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in pairs]}


@attack
def a_reranker_with_other_ids(place: Place) -> bool:
    """Ids that were not sent, that come twice, that lack one, and that are no numbers; scores that are none."""
    wrong: Sequence[dict[str, object]] = (
        scores((0, 1), (1, 2), (7, 3)),
        scores((0, 1), (1, 2), (1, 3)),
        scores((0, 1), (1, 2)),
        scores((-1, 1), (0, 2), (1, 3)),
        scores(("0", 1), (True, 2), (2.5, 3)),
        scores((0, "high"), (1, None), (2, [])),
        scores((0, float("nan")), (1, float("inf")), (2, 1)),
        scores((0, 1), (1, 2), (2, 3), (3, 4)),
        {"results": {}},
        {"scores": [1, 2]},
    )
    for one in wrong:
        before, place.failed = len(place.said), False
        searched(place, one)
        told = place.said[before:]
        if not (place.failed or '"notes": []' not in told):
            place.said += f" <- {one}"
            return False
    return True


def encoded(place: Place, body: object) -> str:
    """Build an index with an embeddings endpoint that gives this answer."""
    with ModelServer(lambda _: Reply(body=json.dumps(body).encode())) as server:
        return place.run(
            "index", f"endpoint:m@{server.base_url}", "-c", place.collection, OPENAI_BASE_URL=server.base_url
        )


@attack
def an_encoder_with_other_ids_and_numbers(place: Place) -> bool:
    for town in ("Arnfeld", "Brede"):
        place.write(f"{town}.md", WORDS.format(town))
    place.add()
    good = {"index": 0, "embedding": [1.0, 2.0]}
    for data in (
        [good],
        [good, good],
        [good, {"index": 5, "embedding": [1.0, 2.0]}],
        [good, {"index": 1, "embedding": [1.0]}],
        [good, {"index": 1, "embedding": []}],
        [good, {"index": 1, "embedding": [None, 2]}],
        [good, {"index": 1, "embedding": [float("nan"), 2]}],
        [good, {"index": 1, "embedding": [1e300, 2]}],
        [good, {"index": 1, "embedding": [0.0, 0.0]}],
        [good, {"index": 1, "embedding": "AAAA"}],
        [good, {"index": -1, "embedding": [1.0, 2.0]}],
        [good, {"index": "1", "embedding": {"a": 1}}],
        [],
        None,
    ):
        place.failed = False
        encoded(place, {"data": data})
        if not place.failed:
            place.said += f" <- {data}"
            return False
    return place.finds("harbour Brede")


@attack
def a_describer_that_says_the_same_of_all_or_nothing(place: Place) -> bool:
    from pathlib import Path

    sample = next((Path(__file__).parents[2] / "quoteweave/samples/pdf").glob("*.pdf"))
    place.write("a.pdf", sample.read_bytes())
    place.add()
    with ModelServer(lambda _: Reply(text="")) as server:
        place.run("describe", "-c", place.collection, "--model", "m", OPENAI_BASE_URL=server.base_url)
    return place.failed or "empty" in place.said or "no description" in place.said or "0 " in place.said
