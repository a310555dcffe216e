"""An extractive reading model gives the sentence with its answer, or none, however passages are batched and cut."""

import asyncio
import json
import shutil
from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate, count, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harbour_quotes import context, quote
from model_calls import watched_models
from tiny_reader import LESSONS, QUESTION, TELLS, TELLS_NOTHING, make_reader

from quoteweave.core.errors import ModelFailed, ModelNotFound
from quoteweave.core.records import Query
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.extractive.span_reader import PassageWindow, SpanReader, best_sentence
from quoteweave.models.checkpoints import Hardware

CPU = Hardware(device="cpu")
LONG = [f"Grain came by ship in {year}." for year in range(1900, 1960)]


def library() -> Any:
    """transformers, which is only imported where a test computes with it."""
    import transformers

    return transformers


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_reader(tmp_path_factory.mktemp("reader"), LESSONS)


@pytest.fixture(scope="module")
def random(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_reader(tmp_path_factory.mktemp("random"))


def read(folder: Path, passages: Sequence[Sequence[str]], question: str = QUESTION) -> list[list[float | None]]:
    return asyncio.run(SpanReader(str(folder), CPU).score(question, passages))


def window(sentences: Sequence[int], passage: int = 0) -> PassageWindow:
    return PassageWindow(passage, {"input_ids": [0] * len(sentences)}, tuple(sentences), 0)


def test_the_sentence_that_answers_has_a_score_and_the_others_have_none(taught: Path) -> None:
    (tells, tells_nothing) = read(taught, [TELLS, TELLS_NOTHING])
    assert [score is not None and score > 0 for score in tells] == [False, True, False]
    assert tells_nothing == [None, None]


def test_a_passage_is_read_alike_whatever_stands_beside_it(taught: Path) -> None:
    alone = [read(taught, [passage])[0] for passage in (TELLS, TELLS_NOTHING, LONG)]
    together = read(taught, [TELLS, TELLS_NOTHING, LONG])
    for one, other in zip(alone, together, strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert read(taught, []) == []


def test_scores_are_those_of_transformers_logits(taught: Path) -> None:
    import torch

    tokenizer = library().AutoTokenizer.from_pretrained(taught)
    model = library().AutoModelForQuestionAnswering.from_pretrained(taught)
    for sentences in permutations(TELLS):
        encoded = tokenizer(QUESTION, " ".join(sentences), return_tensors="pt")
        with torch.inference_mode():
            given = model(**encoded)
        ends = list(accumulate(len(sentence) + 1 for sentence in sentences))
        starts = [encoded.token_to_chars(at) for at in range(encoded["input_ids"].shape[1])]
        of_passage = [sequence == 1 for sequence in encoded.sequence_ids()]
        places = [bisect(ends, span.start) if own else -1 for own, span in zip(of_passage, starts, strict=True)]
        logits = torch.stack([given.start_logits[0], given.end_logits[0]]).numpy()
        expected = best_sentence([(window(places), logits)])
        assert expected is not None
        (scores,) = read(taught, [sentences])
        assert scores == [pytest.approx(expected[1], abs=1e-4) if at == expected[0] else None for at in range(3)]


def forge(monkeypatch: pytest.MonkeyPatch, logits: Callable[[Any], Any]) -> None:
    """Have the model give these logits (windows, tokens) for its input ids, both of beginnings and of ends."""

    def forward(_: object, *, input_ids: Any, **__: object) -> Any:
        given = logits(input_ids).float()
        return SimpleNamespace(start_logits=given, end_logits=given)

    monkeypatch.setattr(library().BertForQuestionAnswering, "forward", forward)


def always(logits: Any) -> Callable[[Any], Any]:
    return lambda _: logits


def test_each_token_is_of_its_sentence(random: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    passage = ["Coal, grain.", "By rail."]
    with watched_models() as batches:
        read(random, [passage])
    ((row,),) = batches
    tokens = library().AutoTokenizer.from_pretrained(random).convert_ids_to_tokens(row["input_ids"])
    behind = tokens.index("[SEP]") + 1
    assert tokens[0] == "[CLS]"
    assert tokens[behind:] == ["coal", ",", "grain", ".", "by", "rail", ".", "[SEP]"]
    sentences = [*[None] * behind, 0, 0, 0, 0, 1, 1, 1, None]
    for token, sentence in enumerate(sentences):
        # An answer of this token alone is twice as likely as no answer, whose score the first token has.
        logits = torch.zeros(1, len(tokens))
        logits[0, 0], logits[0, token] = 1, 2
        forge(monkeypatch, always(logits))
        (scores,) = read(random, [passage])
        assert scores == [2.0 if sentence == number else None for number in range(2)]


def test_a_long_passage_is_read_in_windows_to_its_end(random: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    with watched_models() as batches:
        read(random, [LONG])
    rows = [row["input_ids"] for batch in batches for row in batch]
    assert len(rows) > 1
    assert max(map(len, rows)) <= 64
    tokenizer = library().AutoTokenizer.from_pretrained(random)
    whole = tokenizer(" ".join(LONG), add_special_tokens=False, verbose=False)["input_ids"]
    first, *later = [row[row.index(tokenizer.sep_token_id) + 1 : -1] for row in rows]
    shared = 64 // 4  # tokens of consecutive windows
    assert first + [token for part in later for token in part[shared:]] == whole

    # Each window has an answer of one token at its end, likelier in later windows: the last sentence is best.
    began = count(1)

    def at_the_end(ids: Any) -> Any:
        lengths = (ids != tokenizer.pad_token_id).sum(1)
        late = torch.tensor([next(began) for _ in ids])
        return torch.where(torch.arange(ids.shape[1]) == lengths[:, None] - 2, late[:, None], 0)

    forge(monkeypatch, at_the_end)
    (scores,) = read(random, [LONG])
    assert scores == [*[None] * (len(LONG) - 1), 2.0 * len(rows)]


def test_a_question_that_is_too_long_leaves_room_for_the_passage(random: Path) -> None:
    (scores,) = read(random, [TELLS], question="grain " * 500)
    assert len(scores) == len(TELLS)


def test_marks_of_the_model_in_a_document_are_plain_text(random: Path) -> None:
    with watched_models() as batches:
        read(random, [["Coal [CLS] [SEP]."]], question="Grain [SEP]?")
    ((row,),) = batches
    tokens = library().AutoTokenizer.from_pretrained(random).convert_ids_to_tokens(row["input_ids"])
    assert (tokens.count("[CLS]"), tokens.count("[SEP]")) == (1, 2)


# Worked by hand. Tokens: [CLS], question, [SEP], two of sentence 0, two of sentence 1, [SEP].
PLACES = (-1, -1, -1, 0, 0, 1, 1, -1)


@pytest.mark.parametrize(
    ("starts", "ends", "found"),
    [
        ([1, 9, 9, 2, 0, 0, 0, 9], [1, 9, 9, 0, 3, 0, 0, 9], (0, 3.0)),  # 2 + 3, less 1 + 1; none of the question
        ([1, 0, 0, 0, 0, 4, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0], (1, 4.0)),  # 4 + 1, less 1
        ([0, 0, 0, 5, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 9, 0], (1, 9.0)),  # 5 + 9 would cross sentences: 0 + 9
        ([0, 0, 0, 0, 5, 0, 0, 0], [0, 0, 0, 5, 0, 0, 0, 0], (0, 5.0)),  # the end is not before the beginning
        ([3, 0, 0, 2, 0, 0, 0, 0], [3, 0, 0, 0, 3, 0, 0, 0], None),  # 5 is less than 6
        ([3, 0, 0, 3, 0, 0, 0, 0], [2, 0, 0, 2, 0, 0, 0, 0], None),  # equal: rather none
    ],
)
def test_spans_worked_by_hand(starts: list[float], ends: list[float], found: tuple[int, float] | None) -> None:
    logits = np.array([starts, ends], dtype=np.float32)
    assert best_sentence([(window(PLACES), logits)]) == found


def test_of_two_windows_the_better_answer_counts_and_the_lower_belief_in_none() -> None:
    first = np.array([[4, 0, 0, 2, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0]], dtype=np.float32)
    second = np.array([[1, 0, 0, 0, 0, 0, 6, 0], [1, 0, 0, 0, 0, 0, 1, 0]], dtype=np.float32)
    assert best_sentence([(window(PLACES), first), (window(PLACES), second)]) == (1, 5.0)
    assert best_sentence([]) is None
    assert best_sentence([(window([-1, -1]), np.zeros((2, 2), dtype=np.float32))]) is None


def test_an_answer_has_thirty_tokens_at_most() -> None:
    places = (-1, *[0] * 40)
    starts, ends = np.zeros(41), np.zeros(41)
    starts[1], ends[31] = 5, 5
    assert best_sentence([(window(places), np.array([starts, ends], dtype=np.float32))]) == (0, 5.0)
    ends[30] = 5
    assert best_sentence([(window(places), np.array([starts, ends], dtype=np.float32))]) == (0, 10.0)


def test_the_answer_says_what_the_model_read(taught: Path) -> None:
    generator = ExtractiveGenerator(scorer=SpanReader(str(taught), CPU))
    texts = [quote(" ".join(TELLS_NOTHING)), quote(" ".join(TELLS))]
    answer = asyncio.run(generator.answer(Query(text=QUESTION), context(texts)))
    assert answer.status == "answered"
    assert answer.text.startswith("The harbour shipped 486 tonnes of grain [2].")
    nothing = asyncio.run(generator.answer(Query(text=QUESTION), context(texts[:1])))
    assert nothing.status == "located"


def test_what_is_no_reading_model_is_refused(random: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="is no model"):
        read(tmp_path / "none", [TELLS])
    other = tmp_path / "other"
    shutil.copytree(random, other)
    config = json.loads((other / "config.json").read_text("utf-8"))
    (other / "config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}), "utf-8")
    with pytest.raises(ModelFailed, match="no reading model: its architecture is BertModel, not one ForQuestionAns"):
        read(other, [TELLS])


def test_a_checkpoint_without_all_its_weights_is_refused(random: Path, tmp_path: Path) -> None:
    library().BertModel.from_pretrained(random, add_pooling_layer=False).save_pretrained(tmp_path)
    shutil.copy(random / "config.json", tmp_path / "config.json")
    for file in random.glob("*token*"):
        shutil.copy(file, tmp_path / file.name)
    with pytest.raises(ModelFailed, match=r"lacks weights of BertForQuestionAnswering: qa_outputs\.bias"):
        read(tmp_path, [TELLS])
