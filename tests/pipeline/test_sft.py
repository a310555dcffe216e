"""Lines to train with: the answer cites the same quotes as before, gold is spread evenly, a seed gives the same."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_training import cited, example, quotes_of

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example
from quoteweave.core.text.marks import parse_marks
from quoteweave.generation.chat_generator import CitedGenerator
from quoteweave.pipeline.runs.sft import (
    NO_ANSWER,
    NO_MARK,
    NO_PICTURE,
    NO_QUOTES,
    UNRESOLVED,
    ExampleSkipped,
    GoldSpread,
    TrainingLines,
    renumber_marks,
)
from quoteweave.testing import FakeChat

TEXTS, IMAGES = 12, 8
text_numbers = st.lists(st.integers(1, TEXTS), min_size=1, max_size=4)
text_marks = text_numbers.map(lambda numbers: f"[{', '.join(map(str, numbers))}]")
ranges = st.tuples(st.integers(1, TEXTS), st.integers(1, TEXTS)).map(lambda ends: f"[{min(ends)}-{max(ends)}]")
image_marks = st.builds(
    lambda summary, number: f"![{summary}](image{number})",
    st.sampled_from(["ships", "as [2] says", ""]),
    st.integers(1, 8),
)
words = st.text(st.sampled_from("abc é.\n*"), max_size=6)
answers = st.lists(st.one_of(words, text_marks, ranges, image_marks), min_size=1, max_size=12).map("".join)


def answer_of(line: Any) -> str:
    return str(line["messages"][2]["content"])


@given(answers, st.integers())
def test_the_answer_cites_the_same_quotes_under_new_numbers(answer: str, seed: int) -> None:
    before = [f"{mark.kind}{number}" for mark in parse_marks(answer) for number in mark.numbers]
    if not before:
        with pytest.raises(ExampleSkipped, match=f"{NO_MARK}|{NO_ANSWER}"):
            TrainingLines(seed=seed).line(example(answer=answer))
        return
    line = TrainingLines(seed=seed).line(example(answer=answer, gold=set(before)))
    assert len(quotes_of(line)) == TEXTS + IMAGES
    assert cited(line) == before


@given(answers)
def test_what_is_no_mark_stays_as_it_is(answer: str) -> None:
    same: Any = {("text", n): n for n in range(1, TEXTS + 1)} | {("image", n): n for n in range(1, IMAGES + 1)}
    once = renumber_marks(answer, same)
    assert renumber_marks(once, same) == once
    marks = r"\[[\d, -]+\]"
    assert re.sub(marks, "", once) == re.sub(marks, "", answer)


def test_marks_become_those_that_the_prompt_asks_for() -> None:
    numbers: Any = {("text", 1): 7, ("text", 3): 2, ("text", 4): 5, ("image", 2): 6}
    assert renumber_marks("Ships [1, 3-4]. ![as [1] shows](Image_2.png)\n`[1]`", numbers) == (
        "Ships [7][2][5]. ![as [7] shows](image6)\n`[1]`"
    )


@given(st.lists(st.sets(st.integers(0, 6)), max_size=40), st.integers())
def test_gold_stands_at_each_place_equally_often_at_any_time(golds: Sequence[set[int]], seed: int) -> None:
    spread = GoldSpread(seed)
    for done, gold in enumerate(golds, start=1):
        order = spread.order(str(done), "text", [number in gold for number in range(7)])
        assert sorted(order) == list(range(7))
        counts = spread.at("text")
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == sum(map(len, golds[:done]))
    assert spread.at("image") == []


def test_what_is_counted_is_where_gold_stands() -> None:
    lines, seen = TrainingLines(seed=3), Counter[tuple[str, int]]()
    for number in range(60):
        line = lines.line(example(f"q{number}", "Ships [1][5]. ![a](image3)", {"text1", "text5", "image3"}))
        seen.update(place for place, name in quotes_of(line).items() if name in {"text1", "text5", "image3"})
    assert lines.places == {"text": [10] * 12, "image": [seen["image", place] for place in range(1, 9)]}
    assert sorted(lines.places["image"]) == [7, 7, 7, 7, 8, 8, 8, 8]
    assert all(seen["text", place] == 10 for place in range(1, 13))


def test_settings_of_15_and_20_are_each_spread_evenly() -> None:
    lines = TrainingLines()
    for number in range(20):
        lines.line(example(f"a{number}", "[1]", {"text1"}, texts=10, images=5))
        lines.line(example(f"b{number}", "[1]", {"text1"}))
    assert {count - 2 for count in lines.places["text"][:10]} | set(lines.places["text"][10:]) == {1, 2}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    def written(seed: int) -> list[str]:
        lines = TrainingLines(seed=seed)
        return [json.dumps(lines.line(example(f"q{number}"))) for number in range(5)]

    assert written(1) == written(1)
    assert written(1) != written(2)
    assert len(set(written(1))) == 5


def test_a_model_is_trained_with_what_it_will_be_asked() -> None:
    model = FakeChat(["Twelve [1]."])
    line = TrainingLines().line(example(texts=1, images=1, answer="Twelve [1].", gold={"text1"}))
    given = example(texts=1, images=1)
    assert given.context is not None
    asyncio.run(CitedGenerator(model).answer(given.query, given.context))
    assert line["messages"] == [*model.requests[0], {"role": "assistant", "content": "Twelve [1]."}]


def without_context() -> Example:
    return example().model_copy(update={"context": None})


@pytest.mark.parametrize(
    ("left_out", "why"),
    [
        (without_context(), NO_QUOTES),
        (example().model_copy(update={"context": Context()}), NO_QUOTES),
        (example(answer=None), NO_ANSWER),
        (example(answer=" \n"), NO_ANSWER),
        (example(answer="Twelve."), NO_MARK),
        (example(answer="Twelve [13]."), UNRESOLVED),
        (example(answer="Twelve [1] ![in [0]](image1)."), UNRESOLVED),
    ],
)
def test_what_cannot_be_trained_with_is_left_out_and_takes_no_places(left_out: Example, why: str) -> None:
    lines = TrainingLines()
    with pytest.raises(ExampleSkipped, match=f"^{re.escape(why)}$"):
        lines.line(left_out)
    assert lines.places == {"text": [], "image": []}


def test_pictures_are_parts_in_the_order_of_their_files() -> None:
    lines = TrainingLines(pictures=Path)
    line: Any = lines.line(example(images=3))
    system, user, answer = (message["content"] for message in line["messages"])
    assert [part["type"] for part in user] == ["text", "image"] * 3 + ["text"]
    assert [part["text"] for part in (*system, *answer)] == [system[0]["text"], answer[0]["text"]]
    named = [part["text"].splitlines()[-1].split(" (")[0] for part in user[:-1:2]]
    assert named == ["image1", "image2", "image3"]
    assert sorted(line["images"]) == ["images/image1.png", "images/image2.png", "images/image3.png"]
    (mark,) = [mark for mark in parse_marks(answer[0]["text"]) if mark.kind == "image"]
    assert line["images"][mark.numbers[0] - 1] == "images/image2.png"


def test_pictures_are_tags_of_which_documents_write_none() -> None:
    given = example(images=2)
    assert given.context is not None
    first, *others = given.context.texts
    forged = first.model_copy(update={"quote": first.quote.model_copy(update={"text": "see <image> and <video>"})})
    given = given.model_copy(update={"context": given.context.model_copy(update={"texts": (forged, *others)})})
    line: Any = TrainingLines(pictures=Path, form="llama-factory").line(given)
    user = line["messages"][1]["content"]
    assert user.count("<image>") == len(line["images"]) == 2
    assert "see < image> and < video>" in user
    assert re.search(r"\nimage2 \(report\.pdf, page \d+, figure\)\s+<image>\s+Question: ", user)


def test_an_example_that_lacks_a_picture_is_left_out() -> None:
    with pytest.raises(ExampleSkipped, match=NO_PICTURE):
        TrainingLines(pictures=lambda key: Path(key) if "image1" in key else None).line(example(images=2))
