"""A generator that answers with the one quote that shares the most words with the question."""

import re

from quoteweave import Answer, Context, Hit, Query, build_answer


class BestQuote:
    """Returns the best text quote word for word, with its citation; abstains where no quote shares a word."""

    async def answer(self, query: Query, context: Context) -> Answer:
        """Answer with one quote; its own square brackets become round, so that they are not read as marks."""
        question_words = set(re.findall(r"\w+", query.text.casefold()))

        def shared(hit: Hit) -> int:
            return len(question_words.intersection(re.findall(r"\w+", hit.quote.text.casefold())))

        number, best = max(enumerate(context.texts, 1), key=lambda pair: shared(pair[1]), default=(0, None))
        if best is None or not shared(best):
            text = "No quote has a word of the question."
            return build_answer(query.text, text, context, model="best-quote", status="abstained")
        quoted = best.quote.text.translate(str.maketrans("[]", "()"))
        return build_answer(query.text, f"{quoted} [{number}]", context, model="best-quote")
