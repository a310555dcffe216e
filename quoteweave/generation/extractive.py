"""Answers without a model: the sentences and images of the context that bear on the question, in their own words.

1. Each sentence of a text quote is a statement, and so is what an image quote can say of itself: the rows of a table
   that hold the question's words, or what its caption says it shows (`evidence`).
2. The question's words are weighed by their rarity in the context (`relevance`). A statement *bears on* the question by
   the share of that weight in its own words, and in part by that in the rest of its quote (caption, section title and
   document's name included) and document. Where none reaches `least_bearing`, the answer abstains.
3. Statements are scored by that bearing, and for words that are neighbours in both, for a number where one is asked
   for, and for their rank; less for headings, fragments and junk (`selection`).
4. The best are chosen without repeats, and set in order: the best quote first, then the others of its document from
   front to back, then other documents. Each sentence is cited; an image stands after the sentence that names it
   ("Figure 3"), or after its own. The last sentence says which pages the answer comes from.

A sentence is repeated as it is written, but for what would look like a mark of ours (`wording`).

The default of `least_bearing` was chosen on questions about ten text and four image quotes, kept with their outcomes in
tests/generation/test_extractive.py: of 21 that the quotes answer, 19 are answered from the right quote and 2 missed
for want of a common word; of 16 that they do not answer, 15 are refused. It reads words, not meaning: where the
documents hold all of a question's words but not what it asks, it answers beside the point, and shows from where.
"""

from quoteweave.core.answers import Answer, Context
from quoteweave.core.records import Kind, Query
from quoteweave.generation.citations import weave
from quoteweave.generation.composing import compose
from quoteweave.generation.evidence import Statement, image_statements, text_statements, words_around
from quoteweave.generation.relevance import weigh, what_is_asked
from quoteweave.generation.selection import Bearings, choose, score

MODEL = "extractive"
NOTHING_FOUND = "The documents do not say anything about this that I could find."


class ExtractiveGenerator:
    """The generator that needs no model. It says the same of the same, and nothing that the quotes do not say."""

    def __init__(
        self,
        *,
        max_sentences: int = 4,
        max_images: int = 2,
        max_characters: int = 350,
        least_bearing: float = 0.45,
        keep: float = 0.75,
    ) -> None:
        """Settings of the answer.

        `max_sentences`: taken from text quotes. `max_images`: shown. `max_characters`: of one sentence; longer ones are
        cut after a clause. `least_bearing`: how far, 0 to 1, the best statement must bear on the question. `keep`:
        share of the best score below which a statement is left out.
        """
        self.max_sentences = max_sentences
        self.max_images = max_images
        self.max_characters = max_characters
        self.least_bearing = least_bearing
        self.keep = keep

    async def answer(self, query: Query, context: Context) -> Answer:
        """An answer of `max_sentences` at most, or one that abstains."""
        chosen = self._chosen(query, context)
        if not chosen:
            return weave(query.text, NOTHING_FOUND, context, model=MODEL, status="abstained")
        text = compose(chosen, context, max_images=self.max_images)
        return weave(query.text, text, context, model=MODEL)

    def _chosen(self, query: Query, context: Context) -> list[Statement]:
        question = what_is_asked(query.text)
        statements = text_statements(context, self.max_characters)
        held = [statement.words for statement in statements]
        weights = weigh(question, [*held, *(words_around(hit.quote) for hit in context.images)])
        statements += image_statements(context, weights, self.max_characters)
        bearings = Bearings(context, weights)
        if max((bearings[statement] for statement in statements), default=0.0) < self.least_bearing:
            return []
        scores = [score(statement, question, bearings[statement]) for statement in statements]
        limits: dict[Kind, int] = {"text": self.max_sentences, "image": self.max_images}
        return choose(statements, scores, limits=limits, keep=self.keep)
