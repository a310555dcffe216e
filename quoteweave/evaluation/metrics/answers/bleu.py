"""BLEU-4 of each answer against its gold answer, and of all answers together.

Neither sacrebleu nor nltk is used: neither gives both figures, and nltk differs for answers of fewer than four tokens.
"""

import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.nltk_rules import punkt_sentences, treebank_tokens
from quoteweave.evaluation.text.responses import MarkGrammar, compared_texts

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums

ORDER = 4
EPSILON = 0.1
"""The number of matches that is assumed, in the BLEU of one answer, for an order without any."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Counts for BLEU: for each order from 1, common n-grams and n-grams of the answer; lengths in tokens."""

    common: tuple[int, ...]
    total: tuple[int, ...]
    length: int
    reference_length: int


class Bleu:
    """`bleu`, the mean over questions of each answer's BLEU-4, and `bleu.corpus`, that of all answers together.

    With c and r the lengths of answer and gold in tokens and p_n the share of the answer's n-grams that also occur in
    gold, each counted at most as often as in gold (Papineni et al., BLEU, 2002, section 2; MMDocRAG, arXiv 2505.16470,
    appendix A.2, equation 2):

        BLEU = BP · exp(Σ_{n=1..4} ¼ log p_n), with BP = 1 if c > r, else exp(1 - r / c)

    `bleu.corpus` sums n-grams and lengths over the answers first, as Papineni et al. define it, and is 0 if there are
    no common n-grams of some order; sacrebleu gives the same, and so does nltk if no answer is shorter than four
    tokens. `bleu` smooths instead: an order without a match counts 0.1 matches (Chen and Cherry, A Systematic
    Comparison of Smoothing Techniques for Sentence-Level BLEU, 2014, method 1; if the answer has no n-grams either, 0.1
    of 1), but an answer without any common token has 0. Both are called BLEU and differ much; both are fractions here,
    and elsewhere often multiplied by 100.

    Tokens are those of `text.nltk_rules`, case kept. The gold is `reference.answer`, else `reference.short_answer`.
    Marks are removed from both texts. Undefined without a response, and if gold has no tokens.

    By the `published` convention, `bleu` is what MMDocRAG's `eval_all.py` computes (repository MMDocRAG/MMDocRAG at
    3d61762; nltk 3.9's `word_tokenize` and `sentence_bleu`): marks are tokens, the text is split into sentences before
    it is split into tokens (`text.nltk_rules`), an order without a match counts 2.2e-308, so that the answer has
    practically 0, and the gold is only `reference.answer`. Undefined without it; 0 if it is empty.
    """

    name = "bleu"
    compares_words = True

    def __init__(self, marks: MarkGrammar, convention: Convention = "strict") -> None:
        self._marks, self._published = marks, convention == "published"
        counts = [f"{count}_{n}" for count in ("common", "total") for n in range(1, ORDER + 1)]
        self._counts = tuple(f"bleu.{count}" for count in (*counts, "length", "reference_length"))
        self.aggregates: tuple[Aggregate, ...] = (
            mean_of("bleu"),
            Aggregate("bleu.corpus", self._counts, lambda sums: _corpus(sums[1:])),
        )

    def row(self, prediction: Prediction, example: Example) -> Row:
        """`bleu`, 0 to 1; `bleu.common_n` and `bleu.total_n`, n-grams; `bleu.length` and `bleu.reference_length`."""
        texts = compared_texts(prediction, example, self._marks, published=self._published)
        if texts is None:
            return {}
        tokens = word_tokens if self._published else treebank_tokens
        text, gold = map(tokens, texts)
        if not gold and not self._published:
            return {}
        matches = ngram_matches(text, gold)
        counts = (*matches.common, *matches.total, matches.length, matches.reference_length)
        score = (unsmoothed_bleu if self._published else sentence_bleu)(matches)
        return {"bleu": score, **dict(zip(self._counts, map(float, counts), strict=True))}


def word_tokens(text: str) -> list[str]:
    """The tokens of `word_tokenize` of nltk 3.9, which tokenises each sentence by itself."""
    return [token for sentence in punkt_sentences(text) for token in treebank_tokens(sentence, nltk_3_9=True)]


def ngram_matches(answer: Sequence[str], gold: Sequence[str]) -> Matches:
    """Count what an answer and its gold, both in tokens, have in common."""
    common, total = [], []
    for n in range(1, ORDER + 1):
        ours, theirs = _ngrams(answer, n), _ngrams(gold, n)
        common.append(sum(min(count, theirs[gram]) for gram, count in ours.items() if gram in theirs))
        total.append(max(len(answer) - n + 1, 0))
    return Matches(tuple(common), tuple(total), len(answer), len(gold))


def sentence_bleu(matches: Matches) -> float:
    """BLEU of one answer, smoothed, 0 to 1."""
    if not matches.common[0]:
        return 0.0
    shares = [(common or EPSILON) / max(total, 1) for common, total in zip(matches.common, matches.total, strict=True)]
    brevity = min(0.0, 1 - matches.reference_length / matches.length)
    return math.exp(brevity + math.fsum(map(math.log, shares)) / ORDER)


def unsmoothed_bleu(matches: Matches) -> float:
    """BLEU of one answer as in nltk's `sentence_bleu`: 0 without a common token, tiny without a common 4-gram."""
    if not matches.common[0]:
        return 0.0
    shares = [
        common / max(total, 1) if common else sys.float_info.min
        for common, total in zip(matches.common, matches.total, strict=True)
    ]
    brevity = min(0.0, 1 - matches.reference_length / matches.length)
    return math.exp(brevity + math.fsum(map(math.log, shares)) / ORDER)


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def _corpus(sums: "Sums") -> "Sums":
    """Corpus BLEU from sums of counts; NaN without any gold token. An order without n-grams or matches makes it 0."""
    import numpy as np

    common, total = sums[:ORDER], sums[ORDER : 2 * ORDER]
    length, reference_length = sums[2 * ORDER], sums[2 * ORDER + 1]
    logs = np.log(common / np.maximum(total, 1)).mean(axis=0)
    brevity = np.minimum(0, 1 - reference_length / np.maximum(length, 1))
    bleu: Sums = np.where(reference_length > 0, np.exp(logs + brevity), np.nan)
    return bleu
