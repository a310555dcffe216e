"""ALCE's correctness: short answers that stand in an answer (ASQA), and ROUGE-Lsum with its long gold answers.

ALCE (arXiv 2305.14627, section 4), whose code is `eval.py` of github.com/princeton-nlp/ALCE at 3fdc2ed. The third
figure, the claims that an answer entails (ELI5), needs a model: `metrics.citations.alce`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.metrics.answers.rouge import f_measure, stemmed_words
from quoteweave.evaluation.metrics.answers.short_answer import normalised
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import AMOUNT, Aggregate, Row, deviation_of, mean_of, with_squares
from quoteweave.evaluation.text.nltk_rules import punkt_sentences
from quoteweave.evaluation.text.published_claims import alce_words
from quoteweave.evaluation.text.responses import MarkGrammar, count_words, without_marks


class AlceCorrectness:
    """`str_em` (and `str_em.std`), `str_em.hit`, `rouge_lsum` and `alce.length`, means over questions.

    `str_em` is the share of a question's short answers that the answer contains, in any of their wordings; `str_em.hit`
    is 1 if it contains all of them. Texts are normalised as SQuAD does. Undefined without a response or short answers.

    `rouge_lsum` is ROUGE-L of summaries (Lin, 2004, section 3.2), as rouge-score 0.1.2 computes its F: the words of a
    gold sentence that are in the longest common subsequence with any sentence of the answer, each counted as often as
    the answer has it. Words are stemmed (`text.nltk_rules`); of several gold answers the best counts. Undefined without
    a response or a gold answer of ALCE.

    `alce.length` counts the words of the text that is read for the two.

    `strict` reads the whole answer, and a wording must occur in it as whole words. `published` reads the first line,
    with marks removed as in the authors' code (ALiiCE's code reads all lines); a wording may occur within a word ("art"
    in "part"), and a wording without words ("The") is contained in any answer. The authors' ROUGE is the median of
    means of drawn samples, which differs from run to run; here it is the mean. Sentences are split by
    `text.nltk_rules`.
    """

    name = "alce_correctness"
    compares_words = True
    aggregates: tuple[Aggregate, ...] = (
        mean_of("str_em"),
        deviation_of("str_em"),
        mean_of("str_em.hit"),
        mean_of("rouge_lsum"),
        mean_of("alce.length", limits=AMOUNT),
    )

    def __init__(self, marks: MarkGrammar, convention: Convention = "strict") -> None:
        self._marks, self._published = marks, convention == "published"

    def row(self, prediction: Prediction, example: Example) -> Row:
        """Shares and F, 0 to 1; numbers of words."""
        reference = example.reference
        text = alce_words(prediction, self._marks, published=self._published)
        if text is None or not (reference.short_answers or reference.long_answers):
            return {}
        holds = _contains_string if self._published else _contains_words
        contained = [any(holds(text, wording) for wording in wordings) for wordings in self._wordings(example)]
        share = sum(contained) / len(contained) if contained else None
        row = {"str_em": share, "str_em.hit": None if share is None else float(share == 1)}
        rouge = max((rouge_lsum(text, gold) for gold in reference.long_answers), default=None)
        length = len(text.split()) if self._published else count_words(text)
        return with_squares({**row, "rouge_lsum": rouge, "alce.length": float(length)}, "str_em")

    def _wordings(self, example: Example) -> list[list[str]]:
        """The normalised wordings of each short answer; `strict` omits wordings without words."""
        normalised_wordings = [
            [normalised(wording) for wording in wordings] for wordings in example.reference.short_answers
        ]
        if self._published:
            return normalised_wordings
        return [known for wordings in normalised_wordings if (known := [wording for wording in wordings if wording])]


def _contains_string(text: str, wording: str) -> bool:
    return wording in normalised(text)


def _contains_words(text: str, wording: str) -> bool:
    return f" {wording} " in f" {normalised(without_marks(text))} "


def rouge_lsum(answer: str, gold: str, split_sentences: Callable[[str], Sequence[str]] = punkt_sentences) -> float:
    """The F (β = 1) of two lower-case texts, split into sentences; 0 if either has no words."""
    ours, theirs = (_sentence_words(split_sentences(text.lower())) for text in (answer, gold))
    uncounted_ours, uncounted_theirs = Counter(chain(*ours)), Counter(chain(*theirs))
    hits = 0
    for sentence in theirs:
        for place in sorted(set().union(*(_common_places(sentence, answer_sentence) for answer_sentence in ours))):
            word = sentence[place]
            if uncounted_ours[word] > 0 and uncounted_theirs[word] > 0:
                hits += 1
                uncounted_ours[word] -= 1
                uncounted_theirs[word] -= 1
    sizes = [sum(map(len, sentences)) for sentences in (ours, theirs)]
    if not all(sizes):
        return 0.0
    return f_measure(hits / sizes[0], hits / sizes[1])


def _sentence_words(sentences: Iterable[str]) -> list[list[str]]:
    # rouge-score treats each line as a sentence.
    return [stemmed_words(line) for sentence in sentences for line in sentence.split("\n") if line]


def _common_places(gold: Sequence[str], answer: Sequence[str]) -> set[int]:
    """Positions in `gold` of a longest common subsequence: of several, the one that rouge-score finds."""
    table = [[0] * (len(answer) + 1)]
    for word in gold:
        above, row = table[-1], [0]
        for column, answer_word in enumerate(answer, start=1):
            row.append(above[column - 1] + 1 if word == answer_word else max(above[column], row[-1]))
        table.append(row)
    places: set[int] = set()
    i, j = len(gold), len(answer)
    while i and j:
        if gold[i - 1] == answer[j - 1]:
            i, j = i - 1, j - 1
            places.add(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places
