"""Texts ranked by BM25."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from quoteweave.core.text.tokens import words

_K1, _B = 1.2, 0.75


class WordIndex:
    """Ranks texts by BM25 (Robertson et al., 1994; k1 = 1.2, b = 0.75) over stemmed words without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.words = [words(text) for text in texts]
        self._mean = sum(map(len, self.words)) / max(1, len(self.words))
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, found in enumerate(self.words):
            for word, count in Counter(found).items():
                self._postings[word].append((at, count))

    def scores(self, query: str) -> dict[int, float]:
        """The score of each text that has a word of the query, by the text's place."""
        scores: dict[int, float] = defaultdict(float)
        for word in words(query):
            having = self._postings.get(word, [])
            weight = math.log(1 + (len(self.words) - len(having) + 0.5) / (len(having) + 0.5))
            for at, count in having:
                length = _K1 * (1 - _B + _B * len(self.words[at]) / self._mean)
                scores[at] += weight * count * (_K1 + 1) / (count + length)
        return dict(scores)

    def ranked(self, query: str, within: Collection[int]) -> list[tuple[int, float]]:
        """The texts of `within` that have a word of the query with their scores, best first."""
        scores = self.scores(query)
        return sorted(((at, scores[at]) for at in within if at in scores), key=lambda each: (-each[1], each[0]))
