"""The words by which a question is searched for: its own, and for those that no page has, others that say the same."""

from collections.abc import Callable, Collection
from functools import cache

from quoteweave.core.text.foreign_languages import foreign_function_words
from quoteweave.core.text.question_analysis import QuestionAnalysis, words_alike
from quoteweave.core.text.question_words import asked_quantity, question_entries
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import unit_words


def search_words(analysis: QuestionAnalysis, topic: str, is_known: Callable[[str], bool]) -> list[str]:
    """The words of a question's `topic`, stemmed, and other words for those that are not known (`is_known`).

    In a question that refers to a place, as "figure 3", function words of other languages, such as "que" and "der", are
    left out: in documents in English they are rare, and would outweigh the reference.

    >>> from quoteweave.core.text.question_analysis import analyse_question
    >>> search_words(analyse_question("How tall is it?"), "How tall is it?", {"height"}.__contains__)
    ['tall', 'height']
    """
    refers = analysis.places or analysis.labels
    left_out = foreign_function_words(analysis.text, least=1) if refers else frozenset[str]()
    topic_words = [word for word in words(topic) if word not in left_out]
    unknown = {word for word in set(words(topic, stem=False)) if not any(map(is_known, words(word)))}
    return topic_words + sorted(_equivalent_words(analysis, unknown).difference(topic_words))


def _equivalent_words(analysis: QuestionAnalysis, question_words: Collection[str]) -> set[str]:
    """The words that texts use for some words of a question, or for the quantity that it asks for with these.

    A word counts only in the forms listed: "roses" are flowers and no increase, as "rose" may be.
    """
    quantity = asked_quantity(analysis.asked_by, analysis.text) if question_words else None
    counted = _unit_names() if analysis.asked_by.casefold() == "how many" else frozenset[str]()  # "km" for "kilometres"
    listed = [stem for word in question_words if word in _listed_words() | counted for stem in words(word)]
    other_words = {similar_word for stem in listed for similar_word in words_alike(stem)}
    if quantity is not None and not quantity.acts.union(words(analysis.asked_by)).isdisjoint(
        words(" ".join(question_words))
    ):
        other_words |= quantity.named
    return other_words


@cache
def _listed_words() -> frozenset[str]:
    return frozenset(word for question_words, _ in question_entries("alike") for word in question_words)


@cache
def _unit_names() -> frozenset[str]:
    return frozenset(word for name, _ in unit_words() for word in (name, f"{name}s"))
