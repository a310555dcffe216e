"""BLEU and ROUGE-L by the published convention: the same as MMDocRAG's eval_all.py says of made and of real answers."""

import gzip
import json
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_answers import gold
from made_selection import answered

from quoteweave.evaluation.metrics.answers.bleu import Bleu
from quoteweave.evaluation.metrics.answers.rouge import RougeL
from quoteweave.evaluation.text.nltk_rules import porter_stem, punkt_sentences

RECORDED = json.loads((Path(__file__).parent / "recorded" / "mmdocrag_words.json").read_text("utf-8"))
BLEU, ROUGE = Bleu("published", "published"), RougeL("published", "published")


def scores(answer: str | None, golden: str | None) -> dict[str, float | None]:
    return {**BLEU.row(answered(answer), gold(golden)), **ROUGE.row(answered(answer), gold(golden))}


@pytest.mark.parametrize("case", RECORDED["answers"], ids=lambda case: str(case["name"]))
def test_made_answers_score_as_the_authors_script_scores_them(case: Any) -> None:
    found = scores(case["response"], case["gold"])
    assert found["bleu"] == pytest.approx(case["bleu"], rel=1e-9)
    assert found["rouge_l.f1"] == pytest.approx(case["rouge_l"])


def test_marks_are_words_and_short_gold_is_none() -> None:
    assert (scores("it rose so [1]", "it rose so [2]")["bleu"] or 0) < 0.7
    assert BLEU.row(answered("ten"), gold(None, "ten")) == {}
    assert ROUGE.row(answered("ten"), gold(None, "ten")) == {}
    assert scores(None, "ten") == {}


@pytest.mark.parametrize(
    ("model", "bleu", "rouge_l"),
    [  # of eval_all.py with nltk 3.9.1, on answers to the first 300 questions; those of GPT-4.1 stand for gold
        ("claude-3.5-sonnet_multimodal", 0.14390, 0.28159),
        ("qwen2.5-72b_pure-text", 0.19807, 0.32831),
    ],
)
def test_real_answers_score_as_the_authors_script_scores_them(
    model: str, bleu: float, rouge_l: float, research_data: Path
) -> None:
    folder = research_data / "mmdocrag" / "responses"
    golden, answers = (
        [json.loads(line)["response"] for line in gzip.decompress(file.read_bytes()).splitlines()[:300]]
        for file in (folder / f"{name}_quotes20.jsonl.gz" for name in ("gpt-4.1_multimodal", model))
    )
    found = [scores(answer, better) for answer, better in zip(answers, golden, strict=True)]
    assert fmean(row["bleu"] or 0 for row in found) == pytest.approx(bleu, abs=4e-5)
    assert fmean(row["rouge_l.f1"] or 0 for row in found) == pytest.approx(rouge_l, abs=6e-6)


ENDINGS = """ational tional izer bli alli entli ousli ization ator alism iveness aliti biliti fulli logi icate ative
ness ement ion ize ed ing eed ied ies sses s y e ll"""
LIKE_WORDS = st.builds(
    "{}{}{}".format,
    st.text("abeioystlrnz", max_size=5),
    st.sampled_from(ENDINGS.split()),
    st.sampled_from(("", "s", "ly")),
)


@cache
def porter_stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@given(word=LIKE_WORDS | st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12))
def test_stems_equal_nltks(word: str) -> None:
    assert porter_stem(word) == porter_stemmer().stem(word)


@given(
    answer=st.lists(LIKE_WORDS | st.just("[1].")).map(" ".join),
    golden=st.lists(LIKE_WORDS, min_size=1).map(" ".join),
)
def test_rouge_equals_rouge_score_with_its_stemmer(answer: str, golden: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    theirs = RougeScorer(["rougeL"], use_stemmer=True).score(golden, answer)["rougeL"]
    assert ROUGE.row(answered(answer), gold(golden))["rouge_l.f1"] == pytest.approx(theirs.fmeasure)


@pytest.mark.parametrize(
    "sentences",
    [  # as nltk 3.9.1 cuts them, whose texts are these with a space between
        [],
        ["It rose.", "It fell!", "Why?", "So"],
        ['He said "so."', "Then (he left.)", "[1].", "End"],
        ["Mr. A. Smith of the U.S. Senate fell in Jan. 2020.", "However, so."],
        ["See no.", "3. items"],
        ["It is 3.", "So in 2020. the"],
        ["In the U.S.", "However, it rose... and fell....", "But"],
        ["The p.) of it fell.", "3,141 can't..", "However."],
    ],
)
def test_sentences_are_cut_as_punkt_cuts_them(sentences: list[str]) -> None:
    assert punkt_sentences(" ".join(sentences)) == sentences


ENDS = """. .. ... ? ! ) ] ' " ; : , [1]. U.S. (a.)"""


@given(text=st.lists(LIKE_WORDS | st.sampled_from(ENDS.split())).map(" ".join))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(punkt_sentences(text)).split()) == "".join(text.split())
