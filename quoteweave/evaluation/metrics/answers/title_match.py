"""Attribution accuracy: whether the paper that an answer names is the one cited, by its title (CiteME).

The authors' match is a ratio of `difflib.SequenceMatcher` above 0.8, of both titles in lower case. It takes some papers
for each other, such as two parts of a series, which is why equal titles and equal identifiers are counted beside it.
"""

from quoteweave.core.examples import Example, Prediction
from quoteweave.core.text.paper_identifiers import identifiers_of_address, same_paper
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, mean_of
from quoteweave.evaluation.text.responses import answer_of
from quoteweave.evaluation.text.titles import MIN_RATIO, last_line, letters, published_title, ratio


class TitleMatch:
    """`title_match`, by the ratio of titles, which CiteME prints as accuracy; `title_match.exact`, by equal titles.

    `identifier_match` compares identifiers of the paper selected with those that the gold addresses tell (arXiv, DOI,
    Semantic Scholar and others). Of several gold titles or addresses any counts.

    The title of a paper that a search selected is compared as it is. Of one named without a search, by the `published`
    convention the whole response is the title, or what follows its first colon where it begins with "Based on", or has
    "guess" or "most likely" before it; by `strict` the title is the last line that is not blank, without quotation
    marks and emphasis.

    Undefined without a response, and where no paper is to be named; `identifier_match` also without a paper selected,
    and where that has no identifier of a kind that the gold addresses have: it is of comparable papers alone, and its
    `n` says of how many. Source: CiteME (arXiv 2407.12861, section 3 and Table 4), and the authors' code.
    """

    name = "title_match"
    aggregates: tuple[Aggregate, ...] = tuple(
        mean_of(column) for column in ("title_match", "title_match.exact", "identifier_match")
    )

    def __init__(self, convention: Convention = "strict") -> None:
        self._convention = convention

    def row(self, prediction: Prediction, example: Example) -> Row:
        """1 or 0, by both."""
        gold = example.reference.short_answer
        if prediction.response is None or example.task != "name_paper" or gold is None:
            return {}
        title = self._title(prediction)
        titles = (gold, *example.reference.alternatives)
        return {
            "title_match": float(max(ratio(title, one) for one in titles) > MIN_RATIO),
            "title_match.exact": float(any(letters(title) == letters(one) for one in titles)),
            "identifier_match": _identified(prediction, example),
        }

    def _title(self, prediction: Prediction) -> str:
        search = prediction.paper_search
        if search is not None and search.selected is not None and search.steps:
            return search.selected.title
        answer = answer_of(prediction.response or "", "own")
        return published_title(answer) if self._convention == "published" else last_line(answer)


def gold_identifiers(example: Example) -> list[dict[str, str]]:
    """The identifiers that each address of the paper cited tells; addresses that tell none are left out."""
    return [found for address in example.reference.addresses if (found := identifiers_of_address(address))]


def _identified(prediction: Prediction, example: Example) -> float | None:
    search, gold = prediction.paper_search, gold_identifiers(example)
    if search is None or search.selected is None or prediction.error is not None:
        return None
    found = [same_paper(one, search.selected.identifiers) for one in gold]
    return None if set(found) <= {None} else float(any(found))
