"""ROUGE-L: the longest common subsequence of an answer and its gold answer.

The package rouge-score is not used: it has no F with β = 1.2, requires nltk, and takes quadratic time in Python.
"""

from collections.abc import Sequence

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.nltk_rules import porter_stem
from quoteweave.evaluation.text.responses import MarkGrammar, compared_texts

BETA = 1.2
_WORD = lazy_regex("[a-z0-9]+")


class RougeL:
    """`rouge_l.precision`, `rouge_l.recall`, `rouge_l.f1` and `rouge_l.beta_1.2`, means over questions.

    With LCS the length in words of the longest common subsequence (Lin, ROUGE: A Package for Automatic Evaluation of
    Summaries, 2004, section 3.1), P = LCS / |answer| and R = LCS / |gold|:

        F_β = (1 + β²) R P / (R + β² P), and 0 if nothing is common

    `rouge_l.f1` has β = 1, as in the package rouge-score and in MMDocRAG's tables; `rouge_l.beta_1.2` has β = 1.2, as
    in MMDocRAG's text (arXiv 2505.16470, appendix A.2, equation 3). Both are called ROUGE-L. Words are those of
    rouge-score without stemming: runs of a to z and 0 to 9 in lower case, so that answers in other scripts have none.

    The gold is `reference.answer`, else `reference.short_answer`. Marks are removed from both texts. Undefined without
    a response, and if gold has no words.

    By the `published` convention, `rouge_l.f1` is what MMDocRAG's `eval_all.py` computes (repository MMDocRAG/MMDocRAG
    at 3d61762; rouge-score 0.1.2): marks are words, words of more than three letters are stemmed (`text.nltk_rules`),
    and the gold is only `reference.answer`. Undefined without it; 0 if it has no words.
    """

    name = "rouge_l"
    compares_words = True

    def __init__(self, marks: MarkGrammar, convention: Convention = "strict") -> None:
        self._marks, self._published = marks, convention == "published"
        self._columns = tuple(f"rouge_l.{figure}" for figure in ("precision", "recall", "f1", f"beta_{BETA}"))
        self.aggregates: tuple[Aggregate, ...] = tuple(mean_of(column) for column in self._columns)

    def row(self, prediction: Prediction, example: Example) -> Row:
        """The figures, 0 to 1."""
        texts = compared_texts(prediction, example, self._marks, published=self._published)
        if texts is None:
            return {}
        ours, theirs = map(stemmed_words if self._published else rouge_words, texts)
        if not theirs and not self._published:
            return {}
        common = lcs_length(ours, theirs)
        precision, recall = common / max(len(ours), 1), common / max(len(theirs), 1)
        values = (precision, recall, f_measure(precision, recall), f_measure(precision, recall, BETA))
        return dict(zip(self._columns, values, strict=True))


def rouge_words(text: str) -> list[str]:
    """The words of rouge-score, unstemmed."""
    return _WORD.findall(text.lower())


def stemmed_words(text: str) -> list[str]:
    """The words of rouge-score with its stemmer, which leaves words of up to three letters unchanged."""
    return [porter_stem(word) if len(word) > 3 else word for word in rouge_words(text)]


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """(1 + β²) R P / (R + β² P); 0 if both are 0."""
    weighted = recall + beta**2 * precision
    return (1 + beta**2) * recall * precision / weighted if weighted else 0.0


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    A row of the table is stored as the bits of one integer (Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA
    2004), so the time is that of |a| additions of |b| bits.
    """
    positions: dict[str, int] = {}
    for position, word in enumerate(b):
        positions[word] = positions.get(word, 0) | 1 << position
    full = (1 << len(b)) - 1
    row = full
    for word in a:
        if matches := row & positions.get(word, 0):
            row = ((row + matches) | (row - matches)) & full
    return len(b) - row.bit_count()
