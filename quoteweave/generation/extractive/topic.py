"""Decide whether the documents are about the question's subject: if not, the answer abstains instead of showing places.

The words that say what the question is about (`relevance.subject_terms`) are weighted by their rarity in the
collection, 0 to 1 each. In a large collection, nearly every word occurs somewhere; what counts is whether the words
occur together, and whether more is said with them than by chance. The best place is the quote that holds most of their
weight, with the text around it:

    HELD * held - ABSENT * absent + REPEATED * repeated + ADJACENT * adjacent - CHANCE * rarest - SCATTER * scattered
    >= THRESHOLD

- held: its share of the weight, in which a frequent verb that no page has ("wear") counts the less the more different
  words there are;
- absent: the share of the words that occur nowhere in the collection, without verbs, which other words often replace
  ("What happens if I miss an appointment?"); in a question in another language, one word is taken for its verb;
- repeated: the weight of its words that other quotes found of its document have too, in full from the third quote on;
- adjacent: pairs of the words that are adjacent both in the question and in a quote, two at most;
- rarest: the weight of the rarest word that it holds: one that is on a page or two may be there by chance;
- scattered: the share of the first quotes that are from other documents than the very first: among many documents,
  one that has the words by chance is easily found.

Among many different words, one is easily there by chance, and it is significant if one is not; so it is not the number
of pages that counts, as a dozen leases that are alike have no more words than one. Where there are few
(`Context.variety` below 1), CHANCE and SCATTER are multiplied by the variety, and ABSENT by half of 1 + variety, or by
the variety for a frequent word ("money"), which texts often say otherwise, but not for names. A word may be replaced by
another ("cost" by "price", `words_alike`), or by the quantity that is asked for ("how far can I ride" by "a range of 60
km", `with_quantity`; "cost" and "pay" by any amount of money). Where there are few different words, one that no page
has may also be said by a synonym (`Context.synonyms`), which is less certain: ABSENT still counts for it, multiplied by
the variety once more.

A page, figure or section that the question names, and that was found, is always relevant; so is any quote for a
question of words that only ask, which is about the document itself ("How many tables are there?", "What is this report
about?"). For a question in another language than the quotes, only its names and numbers are looked for.

If the retriever does not know how rare words are, chance cannot be judged: the weight held, less half of the weight
missing and half of the share scattered, must then be at least `UNKNOWN_THRESHOLD`.

The constants were fitted by logistic regression to questions of MMLongBench-Doc, to others about its documents and to
others about other things, and rounded (`benchmarks/off_topic.py`).
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.foreign_languages import foreign_function_words, foreign_language
from quoteweave.core.text.question_analysis import (
    CONTACT,
    QuestionAnalysis,
    interrogative_words,
    with_words_alike,
    words_alike,
)
from quoteweave.core.text.question_words import light_words, verbs_of
from quoteweave.core.text.references.file_names import FILE_NAME
from quoteweave.core.text.references.mentions import heading_names, labels_in, page_names, without_places
from quoteweave.core.text.synonyms import is_frequent
from quoteweave.core.text.tokens import words
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.named.unsaid_words import names_run_together, words_left_unsaid
from quoteweave.generation.extractive.statements import place_phrase
from quoteweave.generation.extractive.tables.arithmetic import calculation_words
from quoteweave.generation.extractive.tables.asked_columns import MONEY
from quoteweave.generation.languages import Language, function_words, guess_language
from quoteweave.generation.relevance import (
    QuestionTerms,
    parts_of,
    quote_words,
    subject_terms,
    with_quantity,
    words_with_headings,
)
from quoteweave.generation.sentences import text_of

HELD, ABSENT, REPEATED, ADJACENT, CHANCE, SCATTER = 5.0, 8.0, 1.5, 3.0, 4.5, 2.0
THRESHOLD = 0.5
FIRST_HITS = 8
MAX_ADJACENT = 2
ENOUGH_TOGETHER = 2
"""If a question has at least so many words, a place with all of them does not have them by chance."""
REPEATED_IN = 2
"""The number of further quotes of a document with a word from which on it counts as repeated in full."""
DEFAULT_RARITY = 0.6
"""Rarity of a word that some quote contains, if the retriever does not know it; other words then have 1."""
UNKNOWN_MISSING, UNKNOWN_SCATTER, UNKNOWN_THRESHOLD = 0.5, 0.5, 0.1
_NAME = lazy_regex(r"\b[^\W\d_a-zà-þ][\w'’-]*(?:\s+[^\W\d_a-zà-þ][\w'’-]*)+")
# The verb for what somebody did, which a table of such acts does not have.
_WHO_DID = lazy_regex(r"\W*who\s+(?:has\s+)?(\w+)", re.IGNORECASE)
_SUPERLATIVE = lazy_regex(r"\bthe\s+(\w{4,}est)\b")
_OF_ALL = frozenset(words("everyone everybody everything nobody nothing"))
_PAID = frozenset(words("charge cost fee pay price spend"))
"""Words of questions for an amount of money, which a text with one need not have."""
_PIECE = lazy_regex(r"[^\W_]+")
MAX_READ, MAX_CHARACTERS = 15, 500
"""The most quotes from which the language of what was found is guessed, and the most characters of each."""


@dataclass(frozen=True, slots=True)
class TopicEvidence:
    """The evidence that a question is about what was found; words are stems."""

    present: frozenset[str]
    """The words that the best place has."""
    missing: frozenset[str]
    """The words that it lacks, though some page of the collection has them."""
    absent: frozenset[str]
    """The words that no page has."""
    margin: float
    """How far the evidence is above `THRESHOLD`."""
    best: Quote | None = None
    """The quote at the best place; None without quotes, or without words to look for."""


@dataclass(frozen=True, slots=True)
class LanguageDifference:
    """The language of a question, and the different one of what was found; None for the latter if nothing was found."""

    question: Language
    documents: Language | None


def is_on_topic(question: QuestionTerms, context: Context) -> bool:
    """Whether the quotes found are about the question, or a part of it; False without quotes or words to look for."""
    # The margin of a part that names nothing, such as "Give me a list", is infinite, and says nothing of the topic.
    parts = (topic_margin(part, context) for part in parts_of(question.text) if part != question)
    return topic_margin(question, context) >= 0 or any(0 <= margin < math.inf for margin in parts)


def topic_margin(question: QuestionTerms, context: Context) -> float:
    """How far the best place is above the threshold of `is_on_topic`; infinite for a place that is named."""
    hits = _ranked(context)
    if hits and question.analysis.asks_overview:
        return float("inf")
    if any(_is_named(question.analysis, hit.quote) for hit in hits):
        return float("inf")
    if not hits or not question.terms:
        return float("-inf")
    if _asks_contact_alone(question) and any(CONTACT.search(text_of(hit.quote)) for hit in hits):
        return float("inf")
    if not _subject(question, context):
        return float("inf")
    return topic_evidence(question, context).margin


def _asks_contact_alone(question: QuestionTerms) -> bool:
    """Whether a question names nothing but a contact, "What is her number?", which texts give without a name."""
    return question.asks == "contact" and question.subject <= {*words(question.asked_by), *words("address")}


def topic_evidence(question: QuestionTerms, context: Context) -> TopicEvidence:
    """Weigh the evidence at the best place; there must be quotes."""
    variety = 1.0 if context.variety is None else context.variety
    # Among many words, some are synonyms by chance, too.
    with_synonyms = variety < 1 or not context.rarity
    quotes = _words_of_quotes(question, context, with_synonyms=with_synonyms)
    words_found = frozenset[str]().union(*(words_of_quote for _, words_of_quote in quotes))
    asked_words = _asked_words(question, context, words_found)
    rarity = {word: context.rarity.get(word, DEFAULT_RARITY if word in words_found else 1.0) for word in asked_words}
    replaced = _synonyms_of_absent(context).keys() & words_found if with_synonyms else frozenset[str]()
    rarity.update({word: DEFAULT_RARITY for word in rarity if word in replaced})
    absent = frozenset(word for word in rarity if _is_absent(word, context) and word not in words_found)
    if not rarity or not quotes:
        return TopicEvidence(frozenset(), frozenset(), absent, float("-inf"))
    best, common = max(
        ((quote, frozenset(rarity) & words_of_quote) for quote, words_of_quote in quotes),
        key=lambda pair: _weight(pair[1], rarity),
    )
    missing = frozenset(rarity) - common - absent
    first = [quote.document for quote, _ in quotes[:FIRST_HITS]]
    scattered = 1 - first.count(first[0]) / len(first)
    if not context.rarity:
        margin = _weight(common, rarity) - UNKNOWN_MISSING * _weight(missing, rarity) - UNKNOWN_SCATTER * scattered
        return TopicEvidence(common, missing, absent, margin - UNKNOWN_THRESHOLD, best)
    times = Counter(
        word for quote, words_of_quote in quotes if quote.document == best.document for word in common & words_of_quote
    )
    lacking = _count_absent(question, absent, variety) + variety * _count_absent(question, common & replaced, variety)
    unsaid = filter(is_frequent, absent & verbs_of(question.text) - question.names)
    asked_weight = _weight(rarity, rarity) - variety * _weight(frozenset(unsaid), rarity)
    held_weight = _weight(common, rarity)
    margin = HELD * (held_weight and held_weight / asked_weight) - ABSENT * lacking / len(rarity)
    margin += REPEATED * sum(rarity[word] * min(1.0, (times[word] - 1) / REPEATED_IN) for word in sorted(common))
    margin += ADJACENT * _adjacent_pairs(question, rarity, [quote for quote, _ in quotes])
    if missing or absent or len(common) < ENOUGH_TOGETHER:
        margin -= CHANCE * variety * max((rarity[word] for word in common), default=0.0)
    margin -= SCATTER * variety * scattered + THRESHOLD
    return TopicEvidence(common, missing, absent, margin, best)


def _count_absent(question: QuestionTerms, absent: frozenset[str], variety: float) -> float:
    """How many words are absent, without verbs; among few words, names count in full, and frequent words least."""
    match = _WHO_DID.match(question.text)
    verbs = verbs_of(question.text).union(words(match[1]) if match else ())
    counted = absent - (verbs - question.names)
    frequent, seldom = variety, (1 + variety) / 2
    return sum(1.0 if word in question.names else frequent if is_frequent(word) else seldom for word in counted)


def _words_of_quotes(
    question: QuestionTerms, context: Context, *, with_synonyms: bool
) -> list[tuple[Quote, frozenset[str]]]:
    """The quotes, best first, with their words and others that say the same; synonyms only if `with_synonyms`."""
    alike = frozenset(filter(words_alike, _subject(question, context)))
    synonyms = _synonyms_of_absent(context) if with_synonyms else {}
    quotes: list[tuple[Quote, frozenset[str]]] = []
    for quote in (hit.quote for hit in _ranked(context)):
        text_words = with_quantity(_words_of(quote, context), question, quote.all_text())
        if question.asks == "money" and MONEY.search(quote.all_text()):
            text_words |= _PAID
        text_words |= names_run_together(question.analysis.names, quote.document)
        text_words = with_words_alike(text_words, alike)
        quotes.append((quote, text_words.union(word for word, same in synonyms.items() if same & text_words)))
    return quotes


def _synonyms_of_absent(context: Context) -> dict[str, frozenset[str]]:
    """The words that no page has, with their synonyms; all stemmed."""
    stemmed = ((word, frozenset(words(" ".join(synonyms)))) for word, synonyms in context.synonyms.items())
    return {stem: synonyms for word, synonyms in stemmed for stem in words(word)}


def _asked_words(question: QuestionTerms, context: Context, known_words: frozenset[str]) -> list[str]:
    """The words to look for; for a question in another language, only names and numbers that are `known_words`."""
    left_out = words_left_unsaid(question.text, [text_of(hit.quote) for hit in context.hits], known_words)
    limit = question.analysis.threshold
    left_out = left_out.union(words(limit.number if limit else ""))  # "over 200,000" need not be written anywhere
    left_out = left_out.union(words(" ".join(_SUPERLATIVE.findall(question.text))), _OF_ALL)
    if question.asks == "contact":  # a telephone number need not be called one
        left_out = left_out.union(words(f"{question.asked_by} telephone phone"))
    if foreign_language(question.text):  # "Wo fand es statt?": other words may say it took place
        left_out = left_out.union(light_words(question.text) - known_words, _foreign_verb(question, context))
    asked_words = [word for word in _subject(question, context) if word not in left_out]
    if language_difference(question.text, context) is not None:
        asked_words = [word for word in asked_words if word in question.names and word in known_words]
    return [word for word in asked_words if word not in calculation_words()] or asked_words


def _foreign_verb(question: QuestionTerms, context: Context) -> frozenset[str]:
    """In a question in another language, whose verbs are not known: an absent word that may be its verb."""
    if (language := foreign_language(question.text)) is None:
        return frozenset()
    text = question.text
    verbs = (words(word) for word in _surfaces(text) if not language.is_noun(word, text))
    absent = (stems for stems in verbs if stems and all(_is_absent(stem, context) for stem in stems))
    return frozenset(next((stems for stems in absent if question.names.isdisjoint(stems)), ()))


def _words_of(quote: Quote, context: Context) -> frozenset[str]:
    """Words of a quote, with those of the question that it has in another spelling, by which the search found it."""
    text_words, respelled = words_with_headings(quote), list[str]()
    for word, spellings in context.spellings.items():
        if any(text_words.issuperset(words(spelling)) for spelling in spellings):
            respelled += words(word)
    return text_words.union(respelled)


def _subject(question: QuestionTerms, context: Context) -> list[str]:
    """The words of the subject, without those that refer to places which documents have: "the last slide"."""
    subject = subject_terms(question)
    words_beside_places = words(without_places(question.text)) if context.places else subject
    return [word for word in subject if word in words_beside_places]


def language_difference(question: str, context: Context) -> LanguageDifference | None:
    """The languages of a question and of what was found, where they differ or nothing was found; else None.

    Also None if either language is not certain, if one of the documents found is in the question's, and for a question
    in English without quotes. A short question may have too few words to tell its language: it then suffices that no
    page has its "welche" or "combien".
    """
    language_of_question = guess_language(question) or _language_by_frequent_words(question, context)
    if language_of_question is None:
        return None
    texts_by_document: dict[str, list[str]] = {}
    for hit in _ranked(context)[:MAX_READ]:
        texts_by_document.setdefault(hit.quote.document, []).append(text_of(hit.quote)[:MAX_CHARACTERS])
    documents = ["\n".join(texts) for texts in texts_by_document.values()]
    language_of_documents = guess_language("\n".join(documents))
    is_unknown = language_of_documents is None and (texts_by_document or language_of_question == "English")
    if is_unknown or language_of_question in itertools.chain([language_of_documents], map(guess_language, documents)):
        return None
    return LanguageDifference(language_of_question, language_of_documents)


def _language_by_frequent_words(question: str, context: Context) -> Language | None:
    """The likeliest language of a question, if no page of the collection has some word that is frequent in it."""
    without_names = _NAME.sub(_asking_words, question)
    guessed = guess_language(without_names, sure=False)
    if guessed is None:
        return None
    frequent = {stem for word in function_words(guessed) for stem in words(word)}
    lacks_one = any(_is_absent(stem, context) for stem in frequent.intersection(words(without_names)))
    return guessed if lacks_one else None


def _is_absent(stem: str, context: Context) -> bool:
    """Whether no page of the collection has a word; False where the retriever does not know it."""
    return context.rarity.get(stem, 0.0) >= 1.0


def _asking_words(name: re.Match[str]) -> str:
    """Of words that begin with capitals, those that ask: one in "Welche Farben", none in the name "Los Angeles"."""
    return " ".join(
        word for word in name[0].split() if interrogative_words().intersection(words(word, keep_stop_words=True))
    )


def abstention_reasons(question: QuestionTerms, context: Context, asked_as: str) -> tuple[str, ...]:
    """Why what was found is about something else, one sentence each, in words of the question as it was asked.

    `question` may have others, which mean the same ("submit" for "hand in"). A missing verb is no reason, because other
    words may say what somebody does.
    """
    text, reasons, own_words = question.text, list[str](), {*map(str.casefold, _PIECE.findall(asked_as))}
    if (differ := language_difference(text, context)) is not None:
        in_documents = f", and what was found in {differ.documents}" if differ.documents else ""
        reasons.append(
            f"The question seems to be in {differ.question}{in_documents}: words are matched as they are written, so"
            " ask in the language of the documents."
        )
    searched_text = FILE_NAME.sub(" ", without_places(text) if context.places else text)
    surfaces = [
        word for word in _surfaces(searched_text) if own_words.issuperset(map(str.casefold, _PIECE.findall(word)))
    ]
    asking = set(words(question.asked_by, keep_stop_words=True))
    sought_stems = set(question.terms) - asking
    absent = [
        word for word in surfaces if any(_is_absent(stem, context) for stem in sought_stems.intersection(words(word)))
    ]
    if absent:
        reasons.append(f"No page that was read has the word{'s' if len(absent) > 1 else ''} {join_with_and(absent)}.")
    if context.texts or context.images:
        evidence = topic_evidence(question, context)
        literal = _words_of(evidence.best, context) if evidence.best is not None else frozenset[str]()
        stems_of_kinds = (evidence.present & literal, evidence.missing - verbs_of(asked_as))
        present, missing = ([f"“{word}”" for word in surfaces if kind & set(words(word))] for kind in stems_of_kinds)
        if present and missing and evidence.best is not None:
            at = f"{place_phrase(evidence.best)} of {evidence.best.document}"
            nearest = f"The place that matches the question best, {at}, has the word{'s' * (len(present) > 1)}"
            reasons.append(f"{nearest} {join_with_and(present)}, but not {join_with_and(missing)}.")
    return tuple(reasons)


def _surfaces(text: str) -> list[str]:
    """The words of a question, each once, as they are written."""
    pieces = ((piece, words(piece, stem=False)) for piece in _PIECE.findall(text))
    written = {piece_words[0]: piece for piece, piece_words in pieces if len(piece_words) == 1}
    small, question_words = foreign_function_words(text), dict.fromkeys(words(text, stem=False))
    return [written.get(word, word) for word in question_words if small.isdisjoint(words(word))]


def _ranked(context: Context) -> list[Hit]:
    return sorted(context.hits, key=lambda hit: -hit.score)


def _weight(weighed: "frozenset[str] | Mapping[str, float]", rarity: Mapping[str, float]) -> float:
    # Sorted, because the order of a set differs between processes, and sums of floats depend on it.
    return sum(rarity[word] for word in sorted(weighed))


def _adjacent_pairs(question: QuestionTerms, among: Mapping[str, float], quotes: Sequence[Quote]) -> int:
    """How many pairs of the question's words some quote has side by side, `MAX_ADJACENT` at most."""
    pairs = {pair for pair in question.pairs if pair[0] in among and pair[1] in among}
    found_pairs: set[tuple[str, str]] = set()
    for quote in quotes if pairs else ():
        found_pairs |= pairs.intersection(itertools.pairwise(quote_words(quote)))
        if len(found_pairs) >= MAX_ADJACENT:
            break
    return min(len(found_pairs), MAX_ADJACENT)


def _is_named(analysis: QuestionAnalysis, quote: Quote) -> bool:
    """Whether the question refers to the quote, its page or its section by name."""
    if analysis.labels and set(analysis.labels) & set(labels_in(quote.all_text())):
        return True
    if not analysis.places:
        return False
    names = {*page_names(quote.page_label, quote.page, None), PlaceName("page", str(quote.page + 1))}
    names.update(heading_names(quote.heading or ""))
    return bool(names & set(analysis.places))
