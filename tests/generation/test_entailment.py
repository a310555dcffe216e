"""Entailment models say of each pair what plain transformers says of it, however pairs are batched or cut."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from model_calls import Row, little_memory, watched_models
from tiny_entailment import (
    THREE_WAY,
    Lesson,
    make_bert_nli,
    make_deberta_nli,
    make_roberta_nli,
    make_t5,
)

from quoteweave.core.errors import MissingExtra, ModelFailed, ModelNotFound
from quoteweave.core.protocols import Entailment
from quoteweave.generation.entailment import (
    LocalEntailment,
    NliEntailment,
    T5Entailment,
    entailment_class,
    make_entailment,
)
from quoteweave.models.checkpoints import Hardware

CPU = Hardware(device="cpu")
LESSONS: list[Lesson] = [
    ("the harbour shipped grain", "grain", True),
    ("coal by rail", "oil by ship", False),
    ("sales grew in spring and the harbour shipped timber by rail and coal by ship", "sales grew", True),
    ("sales fell per cent", "sales grew in spring", False),
    ("oil", "the oil", True),
    ("the ship and the rail and the coal and the grain and the timber", "per cent", False),
    ("in spring the harbour shipped coal", "coal in spring", True),
    ("timber and grain", "ship 7.", False),
    ("grain by ship rail", "grain by ship", True),
]
PAIRS = [(premise, claim) for premise, claim, _ in LESSONS]
LONG = ("grain by rail " * 40).strip()


def library() -> Any:
    """transformers, which is only imported where a test computes with it."""
    import transformers

    return transformers


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert_nli(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def deberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_deberta_nli(tmp_path_factory.mktemp("deberta"))


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_t5(tmp_path_factory.mktemp("t5"), LESSONS)


@pytest.fixture(params=["bert", "deberta", "t5"])
def folder(request: pytest.FixtureRequest) -> Path:
    made = request.getfixturevalue(request.param)
    assert isinstance(made, Path)
    return made


@cache
def loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    """The tokenizer and the model of a checkpoint, loaded once for all pairs."""
    return library().AutoTokenizer.from_pretrained(folder), getattr(library(), kind).from_pretrained(folder)


def plain_nli(folder: Path, premise: str, claim: str) -> tuple[str, Any]:
    """The likeliest class of one pair, and the logits."""
    import torch

    tokenizer, model = loaded(folder, "AutoModelForSequenceClassification")
    inputs = tokenizer(premise, claim, return_tensors="pt")
    with torch.no_grad():
        logits = model(**inputs).logits[0]
    return model.config.id2label[int(logits.argmax())], logits


def plain_t5(folder: Path, premise: str, claim: str) -> str:
    tokenizer, model = loaded(folder, "AutoModelForSeq2SeqLM")
    text = f"premise: {premise} hypothesis: {claim}"
    inputs = tokenizer(text, return_tensors="pt")
    return str(tokenizer.decode(model.generate(**inputs, max_new_tokens=10)[0], skip_special_tokens=True))


def given(model: LocalEntailment, premise: str, claim: str) -> Row:
    """What the model is given of a pair."""
    with watched_models() as batches, suppress(ModelFailed):  # a T5 that was not taught the pair may give no verdict
        model.entails([(premise, claim)])
    ((row,),) = batches
    return row


def kept(model: LocalEntailment, premise: str, claim: str) -> list[str]:
    """The tokens of a pair that the model reads."""
    tokenizer = library().AutoTokenizer.from_pretrained(model.checkpoint)
    tokens: list[str] = tokenizer.convert_ids_to_tokens(given(model, premise, claim)["input_ids"])
    return tokens


def test_the_checkpoint_says_of_which_kind_it_is(bert: Path, deberta: Path, t5: Path) -> None:
    kinds = [type(make_entailment(str(folder), CPU)) for folder in (bert, deberta, t5)]
    assert kinds == [NliEntailment, NliEntailment, T5Entailment]
    model: Entailment = make_entailment(str(t5))
    assert model.entails([]) == []


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_classifiers_say_what_plain_transformers_says(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    expected = [plain_nli(folder, *pair)[0] == "entailment" for pair in PAIRS]
    assert set(expected) == {True, False}
    assert make_entailment(str(folder), CPU).entails(PAIRS) == expected


def test_a_pair_is_entailed_where_that_is_likelier_than_each_other_class(bert: Path) -> None:
    """Also where it is likelier than one of them alone, or than both on average."""
    pairs = list(product({premise for premise, _ in PAIRS}, {claim for _, claim in PAIRS}))
    beaten, expected = set(), []
    for pair in pairs:
        other, neutral, entailment = plain_nli(bert, *pair)[1].tolist()
        expected.append(entailment > max(other, neutral))
        beaten.add((entailment > other, entailment > neutral, 2 * entailment > other + neutral))
    assert len(beaten) > 4
    assert make_entailment(str(bert), CPU).entails(pairs) == expected


def test_t5_says_what_plain_transformers_generates(t5: Path) -> None:
    expected = [{"1": True, "0": False}[plain_t5(t5, *pair)] for pair in PAIRS]
    assert expected == [answer for *_, answer in LESSONS]
    assert make_entailment(str(t5), CPU).entails(PAIRS) == expected


def test_verdicts_do_not_depend_on_the_batch(folder: Path) -> None:
    pairs = [*PAIRS, (LONG, "coal by ship"), ("", "oil"), ("grain \ud800", "港は")]
    model = make_entailment(str(folder), CPU)
    pairs = pairs if isinstance(model, NliEntailment) else PAIRS
    together = model.entails(pairs)
    assert [model.entails([pair])[0] for pair in pairs] == together
    assert model.entails(pairs[::-1]) == together[::-1]
    pairwise = make_entailment(str(folder), Hardware(device="cpu", batch_size=2))
    assert pairwise.entails(pairs) == together


def test_memory_that_runs_out_halves_the_batch(folder: Path) -> None:
    model = make_entailment(str(folder), CPU)
    expected = model.entails(PAIRS)
    with watched_models(little_memory) as batches:
        assert model.entails(PAIRS) == expected
    assert [len(batch) for batch in batches] == [8, 4, 2, 2, 2, 2, 1]


def test_only_the_end_of_a_premise_is_cut(folder: Path) -> None:
    model = make_entailment(str(folder), CPU)
    claim = "coal by ship in spring"
    uncut = kept(model, "grain", claim)
    assert model.cut == 0
    assert model.warnings() == ()
    tokens = kept(model, f"oil {LONG} timber", claim)
    assert len(tokens) == 64
    assert tokens[-6:] == uncut[-6:]
    assert not {"timber", "▁timber"} & set(tokens)
    first = next(i for i, token in enumerate(uncut) if token in ("grain", "▁grain"))
    assert tokens[:first] == uncut[:first]
    assert tokens[first].strip("▁") == "oil"
    assert model.cut == 1
    assert model.warnings() == (f"premises cut to the 64 tokens that {folder} reads: 1",)
    assert [model.reads_all(premise, claim) for premise in ("grain", f"oil {LONG} timber")] == [True, False]


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_a_cut_pair_is_the_one_that_transformers_cuts(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    model = make_entailment(str(folder), CPU)
    tokenizer = library().AutoTokenizer.from_pretrained(folder)
    assert given(model, f"oil {LONG}", "coal by ship") == dict(
        tokenizer(f"oil {LONG}", "coal by ship", truncation="only_first", max_length=64)
    )


def test_roberta_has_fewer_positions_than_it_counts(tmp_path: Path) -> None:
    model = make_entailment(str(make_roberta_nli(tmp_path)), CPU)
    assert len(kept(model, LONG, "oil")) == 64
    assert len(model.entails([(LONG, "oil")])) == 1


def test_what_is_read_can_be_limited(folder: Path) -> None:
    model = make_entailment(str(folder), CPU, max_length=16)
    assert len(kept(model, LONG, "coal")) == 16
    assert "16 tokens" in model.name
    assert model.name != make_entailment(str(folder), CPU).name


def test_relative_positions_allow_more_than_the_window_and_others_do_not(bert: Path, t5: Path) -> None:
    assert len(kept(make_entailment(str(t5), CPU, max_length=100), LONG, "oil")) == 100
    assert len(kept(make_entailment(str(bert), CPU, max_length=100), LONG, "oil")) == 64


def test_a_claim_without_room_for_a_premise_is_refused_before_anything_is_computed(folder: Path) -> None:
    model = make_entailment(str(folder), CPU)
    with (
        watched_models() as batches,
        pytest.raises(ModelFailed, match=r"leaves no room for its premise in the 64 tokens .*'grain by rail"),
    ):
        model.entails([*PAIRS, ("oil", LONG)])
    assert batches == []


def test_a_mark_in_a_text_is_plain_text(folder: Path) -> None:
    model = make_entailment(str(folder), CPU)
    tokenizer = library().AutoTokenizer.from_pretrained(folder)
    marks, unknown = tokenizer.all_special_tokens, tokenizer.unk_token
    words = kept(model, "grain ship", "oil")
    marked = kept(model, f"grain {' '.join(marks)} ship", f"oil {marks[0]}")
    assert [sum(token == mark for token in marked) for mark in marks if mark != unknown] == [
        sum(token == mark for token in words) for mark in marks if mark != unknown
    ]
    assert len(marked) > len(words)


@pytest.mark.parametrize(
    ("labels", "number"),
    [
        ({0: "entailment", 1: "neutral", 2: "contradiction"}, 0),
        ({0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"}, 1),
        ({0: "not_entailment", 1: "entailment"}, 1),
        ({0: " Entailed", 1: "non-entailment"}, 0),
    ],
)
def test_the_class_of_entailment_is_found_by_its_name(labels: dict[int, str], number: int) -> None:
    assert entailment_class(labels, "model") == number


@pytest.mark.parametrize(
    "labels", [{0: "LABEL_0", 1: "LABEL_1"}, {0: "entailment"}, {0: "entails", 1: "entailment"}, {0: "not_entailment"}]
)
def test_classes_that_do_not_say_which_is_entailment_are_refused(labels: dict[int, str], tmp_path: Path) -> None:
    model = make_entailment(str(make_bert_nli(tmp_path, labels=labels)), CPU)
    with pytest.raises(ModelFailed, match=f"does not tell entailment .* its classes are {', '.join(labels.values())}"):
        model.entails(PAIRS)


@pytest.mark.parametrize("classes", [["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], ["entailment", "not_entailment"]])
def test_the_same_weights_with_their_classes_renamed_find_each_class_once(classes: list[str], tmp_path: Path) -> None:
    turned = [dict(enumerate(classes[turn:] + classes[:turn])) for turn in range(len(classes))]
    folders = [make_bert_nli(tmp_path / str(turn), labels=labels) for turn, labels in enumerate(turned)]
    verdicts = [make_entailment(str(folder), CPU).entails(PAIRS) for folder in folders]
    assert [sum(each) for each in zip(*verdicts, strict=True)] == [1] * len(PAIRS)


def test_a_reply_that_is_no_verdict_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFailed, match="neither 1 nor 0; is it a T5 trained for entailment"):
        make_entailment(str(make_t5(tmp_path)), CPU).entails(PAIRS)


def test_numbers_that_overflow_are_refused(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    spoilt = {name: tensor.fill_(float("nan")) if tensor.ndim == 1 else tensor for name, tensor in weights.items()}
    save_file(spoilt, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelFailed, match="not finite"):
        make_entailment(str(tmp_path), CPU).entails(PAIRS)


def test_nothing_is_loaded_before_the_first_pair(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    model = make_entailment(str(tmp_path), CPU)
    assert model.entails([]) == []
    assert str(tmp_path) in model.name
    with pytest.raises(ModelFailed, match=f"cannot be loaded from {tmp_path}"):
        model.entails(PAIRS)


@pytest.mark.parametrize("kind", [NliEntailment, T5Entailment])
def test_a_model_that_is_not_there_says_so(kind: type[LocalEntailment], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelNotFound, match="/not/there"):
        make_entailment("/not/there")
    with pytest.raises(ModelNotFound, match="/not/there"):
        kind("/not/there").entails(PAIRS)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelNotFound, match="nobody/nothing is not on this machine, and HF_HUB_OFFLINE"):
        make_entailment("nobody/nothing@abc")


def test_a_classifier_without_its_head_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = make_bert_nli(tmp_path) / "model.safetensors"
    save_file({name: weight for name, weight in load_file(file).items() if "classifier" not in name}, file)
    with pytest.raises(ModelFailed, match=r"lacks weights of BertForSequenceClassification: classifier\.bias"):
        make_entailment(str(tmp_path), CPU).entails(PAIRS)


@pytest.mark.parametrize("config", ['{"model_type": "t5", "architectures": ["T5EncoderModel"]}', "{}"])
def test_models_of_other_kinds_are_refused(config: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(config, "utf-8")
    with pytest.raises(ModelFailed, match="is no entailment model: its architecture is"):
        make_entailment(str(tmp_path))


def test_a_tokenizer_that_only_sentencepiece_reads_asks_for_it(
    t5: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_bytes((t5 / "config.json").read_bytes())
    (tmp_path / "spiece.model").write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, "sentencepiece", None)
    with pytest.raises(MissingExtra, match="sentencepiece"):
        make_entailment(str(tmp_path), CPU).entails(PAIRS)


def test_names_tell_weights_and_numbers_apart(bert: Path, tmp_path: Path) -> None:
    other = make_bert_nli(tmp_path, labels=THREE_WAY, seed=1)
    hardware: Sequence[Hardware] = [CPU, Hardware(dtype="bfloat16")]
    names = {make_entailment(str(folder), each).name for folder in (bert, other) for each in hardware}
    assert len(names) == 4
