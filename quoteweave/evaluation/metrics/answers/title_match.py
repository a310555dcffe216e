"""Attribution accuracy: whether the paper that an answer names is the one cited, by its title (CiteME).

The authors' match is a ratio of `difflib.SequenceMatcher` above 0.8, for both titles in lower case. It confuses some
papers, such as two parts of a series, which is why equal titles and equal identifiers are counted as well.
"""

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.text.paper_identifiers import identifiers_of_address, same_paper
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.responses import answer_of
from quoteweave.evaluation.text.titles import MIN_RATIO, last_line, letters, published_title, ratio


class TitleMatch:
    """`title_match`, by the ratio of titles, which CiteME prints as accuracy; `title_match.exact`, by equal titles.

    `identifier_match` compares identifiers of the selected paper with those in the gold addresses (arXiv, DOI, Semantic
    Scholar and others). If there are several gold titles or addresses, any of them counts.

    The title of a paper that a search selected is compared as it is. If a paper was named without a search, by the
    `published` convention the title is the whole response, or what follows its first colon if it begins with "Based
    on", or has "guess" or "most likely" before the colon; by `strict` it is the last line that is not blank, without
    quotation marks and emphasis.

    Undefined without a response, and if no paper is to be named; `identifier_match` also without a selected paper, and
    if that has no identifier of a kind that the gold addresses have: it is only over comparable papers, whose number is
    its `n`. Source: CiteME (arXiv 2407.12861, section 3 and Table 4), and the authors' code.
    """

    name = "title_match"
    aggregates: tuple[Aggregate, ...] = tuple(
        mean_of(column) for column in ("title_match", "title_match.exact", "identifier_match")
    )

    def __init__(self, convention: Convention = "strict") -> None:
        self._convention = convention

    def row(self, prediction: Prediction, example: Example) -> Row:
        """1 or 0 for each figure."""
        gold = example.reference.short_answer
        if prediction.response is None or example.task != "name_paper" or gold is None:
            return {}
        title = self._title(prediction)
        titles = (gold, *example.reference.alternatives)
        return {
            "title_match": float(max(ratio(title, gold_title) for gold_title in titles) > MIN_RATIO),
            "title_match.exact": float(any(letters(title) == letters(gold_title) for gold_title in titles)),
            "identifier_match": _identifier_match(prediction, example),
        }

    def _title(self, prediction: Prediction) -> str:
        search = prediction.paper_search
        if search is not None and search.selected is not None and search.steps:
            return search.selected.title
        answer = answer_of(prediction.response or "", "own")
        return published_title(answer) if self._convention == "published" else last_line(answer)


def gold_identifiers(example: Example) -> list[dict[str, str]]:
    """The identifiers in each address of the cited paper; addresses without any are left out."""
    return [identifiers for address in example.reference.addresses if (identifiers := identifiers_of_address(address))]


def _identifier_match(prediction: Prediction, example: Example) -> float | None:
    search, gold = prediction.paper_search, gold_identifiers(example)
    if search is None or search.selected is None or prediction.error is not None:
        return None
    matches = [same_paper(identifiers, search.selected.identifiers) for identifiers in gold]
    return None if set(matches) <= {None} else float(any(matches))
