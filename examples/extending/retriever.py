"""A retriever by character n-grams, which finds words in spite of misspellings and endings."""

from collections.abc import Sequence

from quoteweave import Collection, Filter, Hit, Query


class NgramRetriever:
    """Ranks quotes by the share of the question's character n-grams that they contain."""

    def __init__(self, collection: Collection, n: int = 3) -> None:
        self._collection, self._n = collection, n

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` quotes for each query, best first."""
        rows = self._collection.select(where).tolist()  # applies the filter, and leaves headers and footers out
        quotes = [quote for quote in self._collection.quotes_at(rows) if quote is not None]
        contents = [self._ngrams(quote.all_text()) for quote in quotes]
        rankings = []
        for query in queries:
            question_ngrams = self._ngrams(query.text)
            scores = [len(question_ngrams & content) / max(1, len(question_ngrams)) for content in contents]
            matching = [index for index, score in enumerate(scores) if score > 0]
            best = sorted(matching, key=lambda index: -scores[index])[: max(0, k)]
            rankings.append([Hit(rank=rank, score=scores[i], quote=quotes[i]) for rank, i in enumerate(best, 1)])
        return rankings

    def _ngrams(self, text: str) -> set[str]:
        padded = f" {' '.join(text.casefold().split())} "
        return {padded[at : at + self._n] for at in range(len(padded) - self._n + 1)}
