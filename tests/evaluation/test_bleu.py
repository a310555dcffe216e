"""BLEU by hand, against nltk's and sacrebleu's."""

import math
import warnings
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_answers import PROSE, gold
from made_selection import answered

from quoteweave.evaluation.metrics.answers.bleu import ORDER, Bleu
from quoteweave.evaluation.statistics.aggregates import Row

METRIC = Bleu("own")
MEAN, CORPUS = METRIC.aggregates


@cache
def nltk_tokenizer() -> Any:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


def row(answer: str | None, golden: str | None, *, short: str | None = None) -> Row:
    return METRIC.row(answered(answer), gold(golden, short))


class TestByHand:
    def test_the_same_text_has_1(self) -> None:
        found = row("sales rose by a third", "sales rose by a third")
        assert found["bleu"] == pytest.approx(1)
        assert CORPUS.of([found]) == pytest.approx(1)

    def test_shares_brevity_and_smoothing(self) -> None:
        found = row("a b c d", "a b c x y")
        shares = [3 / 4, 2 / 3, 1 / 2, 0.1 / 1]
        assert found["bleu"] == pytest.approx(math.exp(1 - 5 / 4) * math.prod(shares) ** 0.25)
        assert CORPUS.of([found]) == 0  # no four tokens in common

    def test_repeated_words_count_as_often_as_gold_has_them(self) -> None:
        assert row("the the the the", "the cat the")["bleu.common_1"] == 2

    def test_the_corpus_is_no_mean(self) -> None:
        rows = [row("a b c d e", "a b c d e"), row("x x x x x", "p q r s t")]
        assert MEAN.of(rows) == pytest.approx(0.5)
        assert CORPUS.of(rows) == pytest.approx(((5 / 10) * (4 / 8) * (3 / 6) * (2 / 4)) ** 0.25)

    def test_marks_are_no_words(self) -> None:
        assert row("sales rose by a third [1].", "sales rose by a third [2].")["bleu"] == pytest.approx(1)

    def test_a_short_gold_answer_serves_where_there_is_no_other(self) -> None:
        assert row("a b c d", None, short="a b c d")["bleu"] == pytest.approx(1)


class TestNothing:
    @pytest.mark.parametrize(("answer", "golden"), [(None, "a"), ("a", None), ("a", ""), ("a", "[1]")])
    def test_without_a_response_or_gold_words_it_is_undefined(self, answer: str | None, golden: str | None) -> None:
        assert row(answer, golden) == {}
        assert (MEAN.of([{}]), CORPUS.of([{}])) == (None, None)

    @pytest.mark.parametrize("answer", ["", "<think>never done", "nothing shared"])
    def test_an_answer_without_a_word_in_common_has_0(self, answer: str) -> None:
        found = row(answer, "a b c d")
        assert (found["bleu"], CORPUS.of([found])) == (0, 0)


GOLD = PROSE.filter(str.split)


@given(answer=PROSE, golden=GOLD)
def test_of_one_answer_equals_nltk(answer: str, golden: str) -> None:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    answer_tokens, gold_tokens = map(nltk_tokenizer().tokenize, (answer, golden))
    theirs = sentence_bleu([gold_tokens], answer_tokens, smoothing_function=SmoothingFunction(epsilon=0.1).method1)
    assert row(answer, golden)["bleu"] == pytest.approx(float(theirs))


@given(pairs=st.lists(st.tuples(PROSE, GOLD), min_size=1, max_size=5))
def test_of_all_answers_equals_nltk_and_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    from nltk.translate.bleu_score import corpus_bleu
    from sacrebleu.metrics.bleu import BLEU

    ours = CORPUS.of([row(answer, golden) for answer, golden in pairs])
    answers, golden = [[nltk_tokenizer().tokenize(text) for text in texts] for texts in zip(*pairs, strict=True)]
    if min(map(len, answers)) >= ORDER:  # nltk counts one n-gram in an answer that is too short to have any
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nothing of an order matches
            assert ours == pytest.approx(float(corpus_bleu([[one] for one in golden], answers)))
    sacrebleu = BLEU(tokenize="none", smooth_method="none", force=True)
    theirs = sacrebleu.corpus_score([" ".join(one) for one in answers], [[" ".join(one) for one in golden]])
    assert ours == pytest.approx(theirs.score / 100)
