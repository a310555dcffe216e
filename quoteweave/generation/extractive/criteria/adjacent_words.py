"""Tells whether words that are adjacent in a question are adjacent in a text: "long-term debt"."""

import itertools
import re
from collections.abc import Sequence, Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import foreign_function_words
from quoteweave.core.text.tokens import words
from quoteweave.generation.relevance import NUMBER_KINDS, PERIODS, Pairs, QuestionTerms

TURNED_WITHIN = 2
"""The first word of a pair may follow the second within so many words: "damage caused by limescale"."""
_VERB_LAST_KINDS = frozenset({"date", "place", "person", "count", "yes_or_no"})
"""Kinds of questions in which the verb for what was done follows the noun: "When was the survey conducted?"."""
ALSO_BEFORE = frozenset({"next", "last"})
"""Words of a pair that may stand on either side of the other: "when does it meet next" is its "next meeting"."""
_ADVERBS = frozenset(
    words("always often usually normally generally sometimes never seldom typically automatically new")
)
"""What may stand between a noun and its verb: "Builds are always run in parallel", "was elected as the new chair"."""
_DOES = lazy_regex(r"\b(?:do|does|did)\b(?!\s+(?:I|you|we|they|one)\b)", re.IGNORECASE)
_WHO_ACTS = lazy_regex(r"\W*who\s+(?:(?:can|may|must|should|will)\s+)?(?P<verb>\w+)", re.IGNORECASE)
# "The door handle" and "the door of the shed" are not the fire door, nor are "the bus tickets" those for the city bus.
_DEFINITE = lazy_regex(
    r"\b(?:the|this|that|these|those)\s+(?:(?:same|whole)\s+)?(?P<noun>[\w'’-]+)(?=\W*$|\s*[.,;:)]|\s+(?:is|are|was|were"
    r"|has|have|had|do|does|did|can|may|must|should|will|would|and|or|but|when|if|before|after|until|while|because"
    r"|\w+ed|\w+s(?!\s+(?:are|were|have|had|do|did|can|may|must|should|will|would|cost|weigh|run|last)\b))\b)",
    re.IGNORECASE,
)
_OF_THE_SAME = frozenset(words("same whole", keep_stop_words=True))
_PARTICIPLE = lazy_regex(r"\w{2,}ed")
# The comparative moves in answers: "By how much was the gap larger at night?", "The gap at night was 31% larger".
_BY_HOW_MUCH = lazy_regex(r"\W*(?:by how (?:much|many)|why)\s+(?:is|are|was|were)\b.*?\s(\w{2,}er|more|less)\b")


def adjacent_pairs(question: QuestionTerms, among: frozenset[str], *, verbs: bool) -> Pairs:
    """The pairs of these words that are directly adjacent in the question, without even a stop word between them.

    The verb of "How much does a new impeller cost?" is elsewhere in what answers it: `verbs` says whether pairs with
    what may be the verb are included.
    """
    written = [(word, words(word)) for word in words(question.text, stem=False, keep_stop_words=True)]
    verb_is_last, comparative = question.asks in _VERB_LAST_KINDS, _BY_HOW_MUCH.match(question.text.casefold())
    who = _WHO_ACTS.match(question.text)
    last = [word for word, _ in written if word not in ALSO_BEFORE][-1:] if _DOES.search(question.text) else []
    pairs = (
        first_stems + second_stems
        for (first, first_stems), (second, second_stems) in itertools.pairwise(written)
        if verbs
        or (
            second not in last
            and not (question.asks in NUMBER_KINDS and first in PERIODS)
            and not (who and who["verb"].casefold() == first)
            and not (verb_is_last and _PARTICIPLE.fullmatch(second))
            and not (comparative and comparative[1] == second)
        )
    )
    if (verb_is_last or question.asks == "reason") and foreign_function_words(question.text):
        return frozenset()  # "Cuántas toneladas produjo": their verbs stand elsewhere than in English
    return frozenset((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and among.issuperset(pair))


def implied_by_article(text: str, paragraph: str, asked_pairs: Pairs) -> frozenset[str]:
    """The first words of those pairs whose second word a text has behind "the", as its paragraph has the whole name.

    "The extractor" is the honey extractor, if the paragraph names that and no other extractor.
    """
    definite = {stem for match in _DEFINITE.finditer(text) for stem in words(match["noun"])}
    wanted = [pair for pair in asked_pairs if pair[1] in definite]
    content = frozenset(words(paragraph)) - _OF_THE_SAME if wanted else frozenset[str]()
    names: dict[str, set[str]] = {}
    for before, word in itertools.pairwise(words(paragraph, keep_stop_words=True) if wanted else ()):
        if before in content:
            names.setdefault(word, set()).add(before)
    return frozenset(first for first, second in wanted if names.get(second) == {first})


def keeps_adjacent(
    text_words: Sequence[str], asked_pairs: Pairs, all_asked_pairs: Pairs, question_words: Set[str] = frozenset()
) -> bool:
    """Whether one of the `asked_pairs` that a text contains, or one of `all_asked_pairs`, is adjacent in it.

    True if the text contains none of the `asked_pairs`.
    With "next" or "last", the order does not matter: "when does the board meet next" is answered by its "next meeting".
    The `question_words` may then stand between: "the next board meeting" is the next one of the board.
    "Limescale damage" may be called "damage caused by limescale".
    """
    word_set = frozenset(text_words)
    pairs = {pair for pair in asked_pairs if word_set.issuperset(pair)}
    pairs |= {pair[::-1] for pair in pairs if pair[1] in ALSO_BEFORE}
    turned = {
        (first, then) for at, then in enumerate(text_words) for first in text_words[at + 1 : at + 1 + TURNED_WITHIN]
    }
    # "A quality of 75 gives" has the quality beside what it gives, and "Key K2 cuts" the key.
    adjacent = _adjacent(text_words) | _adjacent([word for word in text_words if word.isalpha()], _ADVERBS)
    if not pairs or not (pairs | all_asked_pairs).isdisjoint(adjacent) or not pairs.isdisjoint(turned):
        return True
    parted = (pair for pair in pairs if not ALSO_BEFORE.isdisjoint(pair))
    return any(pair in _adjacent(text_words, question_words - {*pair}) for pair in parted)


def _adjacent(text_words: Sequence[str], besides: Set[str] = frozenset()) -> Pairs:
    return frozenset(itertools.pairwise(word for word in text_words if word not in besides))
