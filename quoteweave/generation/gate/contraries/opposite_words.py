"""Says whether sentences state the contrary of a claim: the other direction, an opposite word, or a denial.

Contraries are recognised by English words; denials, and what is allowed or forbidden, also by those of other languages.
Only sentences that have most other words of the claim are compared, so that statements about something else are not
taken for its contrary; for opposite words and denials, only clauses that do. Directions are also compared if both texts
have a change by the same percentage or decimal.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Literal, get_args

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import permission_words
from quoteweave.core.text.question_analysis import opposite_words, words_alike
from quoteweave.core.text.tokens import STOP_WORDS, stem_of, words
from quoteweave.generation.gate.amounts import NUMBER_WORDS, Amount
from quoteweave.generation.gate.clauses import content_words_of
from quoteweave.generation.gate.facts import read_sentence
from quoteweave.generation.languages import Language, function_words
from quoteweave.generation.relevance import coverage

MIN_COVERAGE = 0.6
"""Least share of the claim's other words, weighed by rarity, that a sentence has which may state its contrary."""
MIN_DENIED = 0.8
"""Least share of the words of a claim's clause in one that may deny it or say its opposite: a clause with fewer of them
is often about something else."""
MIN_SHARED = 2
"""Fewest words that a sentence shares with a claim beside an amount of both."""
Contrary = Literal["direction", "opposite_word", "denial"]
"""How what is cited states the contrary of a claim."""
CONTRARY_REASONS: Mapping[Contrary, str] = MappingProxyType(
    {
        "direction": "Of it and what it cites one says that something rises, and the other that it falls.",
        "opposite_word": "What it cites has the opposite of one of its words.",
        "denial": "Of it and what it cites one denies what the other says.",
    }
)

_RISES = (
    "rise rises rose risen raise raised rising increase increases grow grows grew grown growth gain higher more climb"
    " climbs climbed soar soars soared surge surges surged double doubles doubled"
)
_FALLS = (
    "fall falls fell fallen drop drops dropped lower lowered reduce reduces decrease decreases decline declines shrink"
    " shrinks shrank shrunk loss less fewer halve halves halved plunge plunges plunged slump slumps slumped"
)
_MAY, _MAY_NOT = map(" ".join, zip(*permission_words(), strict=True))
_OPPOSITES = (
    (_RISES, _FALLS),
    ("better improve improves improved improvement", "worse worsen worsens worsened impair impairs impaired degrade"),
    ("faster quicker accelerate accelerates accelerated", "slower slow slows slowed"),
    ("longer lengthen lengthens lengthened prolong", "shorter shorten shortens shortened"),
    ("larger bigger greater enlarge", "smaller"),
    ("stronger strengthen strengthens strengthened", "weaker weaken weakens weakened"),
    ("earlier earliest", "later latest"),
    ("warmer hotter", "colder cooler"),
    ("highest largest", "lowest smallest"),
    (_MAY, _MAY_NOT),
    ("profit profits", "loss losses"),
    ("include includes included", "exclude excludes excluded omit omits omitted"),
    ("accept accepts accepted", "reject rejects rejected refuse refuses refused"),
    ("succeed succeeds succeeded", "fail fails failed"),
    ("positive positively", "negative negatively"),
    ("won win wins", "lost lose loses"),
)
_PREFIXED = {
    "un": "able safe stable likely known certain available supported successful changed affected related necessary"
    " usual paid reliable",
    "in": "active complete correct dependent effective efficient valid visible sufficient consistent accurate"
    " significant compatible direct accessible",
    "im": "possible perfect proper mobile",
    "ir": "regular relevant reversible",
    "il": "legal",
    "dis": "appear connect agree approve continue obey",
    "de": "compress activate centralise centralize",
    "non": "linear toxic",
}
"""Words by the prefix that makes them their opposite; words that only seem to have one, as "import", are not listed."""
OPPOSITE_PREPOSITIONS = (
    ("before", "after", "within"),
    ("before", "since"),
    ("until", "from", "after", "since"),
    ("above", "below"),
    ("over", "under"),
    ("above", "under"),
    ("over", "below"),
    ("inside", "outside"),
    ("with", "without"),
    ("up", "down"),
    ("on", "off"),
    ("in", "out"),
)
"""Groups of prepositions of which each is the contrary of the others: "before breakfast", "after breakfast"."""
_PAIRS = (
    *(
        tuple(frozenset(words(side, keep_stop_words=True)) for side in pair)
        for pair in (
            *_OPPOSITES,
            *((word, f"{prefix}{word}") for prefix, listed in _PREFIXED.items() for word in listed.split()),
        )
    ),
    # Prepositions such as "in" and "out" are compared with the word behind them in `contraries.word_differences`.
    *(pair for pair in opposite_words() if STOP_WORDS.isdisjoint(frozenset().union(*pair))),
)
DIRECTIONS = _PAIRS[0]
"""The words by which something rises, and those by which it falls."""
# Groups of words that say the same, in any form; so do the words of one side of a pair of opposites.
_ALIKE = tuple(
    frozenset(words(group))
    for group in (
        "close closes closed closing shut shuts shutting",
        "open opens opened opening",
        "average mean",
        "carry carries carried transport transports transported convey conveyed",
        "happen happens happened occur occurs occurred",
        "last lasts lasted continue continues continued",
        "end ends ended finish finishes finished conclude concludes concluded",
        "show shows showed shown",
        "find finds found",
        "seat seats seated",
        "say says said tell tells told",
        "lend lends lent loan loans loaned",
        "see sees saw seen",
        "hire hires hired employ employs employed recruit recruits recruited",
        "dismiss dismisses dismissed fire fired",
        "acquire acquires acquired buy buys bought purchase purchases purchased",
        "strike strikes struck hit hits",
        "catch catches caught",
        "lie lies lay lain",
        "fly flies flew flown",
        "speak speaks spoke spoken",
        "eat eats ate eaten",
        "drive drives drove driven",
        "begin begins began begun beginning start starts started",
        "think thinks thought believe believes believed",
        "big large",
        "little small",
        "major main principal",
        "firm company business enterprise",
        "staff employee employees personnel worker workers",
        "nation country",
        "percentage share proportion",
        "kid kids child children",
        "illness disease",
        "road street",
        "yearly annual annually",
        "monthly month months",
        "daily day days",
        "weekly week weeks",
        "hourly hour hours",
        "length long",
        "width wide",
        "height high tall",
        "depth deep",
        "age old aged",
        "weight weigh weighs weighed",
        "growth grow grows grew grown growing",
        "choice choose chooses chose chosen",
        "sale sales sell sells sold",
        "payment pay pays paid",
        "belief believe believes believed",
        "death deaths die dies died dead",
        "birth born",
        "flight fly flies flew flown",
        "success succeed succeeds succeeded successful successfully",
        "failure fail fails failed",
        "arrival arrive arrives arrived",
        "departure depart departs departed",
        "approval approve approves approved",
        "decision decide decides decided",
        "proof prove proves proved proven",
        "loss losses lose loses lost losing",
        "gift give gives gave given",
        "entry entrance enter",
        "dead died die",
        "approximately approximate",
    )
)
# "More than 40" states no direction.
_BOUND = lazy_regex(rf"\b(?:more|less|fewer|higher|lower) than (?=\d|(?:a|half|{NUMBER_WORDS})\b)", re.IGNORECASE)
_NOT_DENYING = lazy_regex(
    r"\b(?:not only|whether or not|with (?:and|or) without|(?:no|not) (?:more|less|fewer|later|earlier) than"
    r"|no (?:doubt|matter|wonder)|no(?=\.|\s?\d))\b",
    re.IGNORECASE,
)
# Denials of languages in which the denied words follow, as in English. "no" is left out, as it denies in Spanish but
# not in Portuguese.
_DENIALS = lazy_regex(
    r"\b(?:nicht|kein(?:e[mnrs]?)?|niemals|pas|jamais|aucune?|non|nessun[ao]?|niet|geen|nooit|nunca|não|nenhuma?)\b"
    r"(?!\s+(?:\d|(?:nur|allein|mehr|weniger|seulement|solo|soltanto|alleen|meer|só|apenas)\b))",
    re.IGNORECASE,
)
_BELOW_NOUGHT = frozenset(
    words("below minus negative negatively deficit deficits lost lose loses losing", keep_stop_words=True)
)
_GOES_UP, _GOES_DOWN = (lazy_regex(rf"\b(?:go|goes|going|went|gone) {way}\b", re.IGNORECASE) for way in ("up", "down"))
_CHANGED_BY = lazy_regex(
    r"\bby (?:\w+ ){0,2}?(?:\d[\d.,]* ?(?:%|per ?cent)?|(?:an?|one|two|three|four|five) \w+)", re.IGNORECASE
)
_WITH_NO = lazy_regex(r"\bwith no\b", re.IGNORECASE)
_NO = lazy_regex(r"\bno\b", re.IGNORECASE)
_NOT = lazy_regex(r"(?<=\w)n['’]t\b|(?<=\bcan)not\b", re.IGNORECASE)
_OTHERS = frozenset(
    word  # `words` removes accents
    for language in get_args(Language)
    if language != "English"
    for word in words(" ".join(function_words(language)), stem=False, keep_stop_words=True)
)
_ENGLISH, _FOREIGN = function_words("English") - _OTHERS, _OTHERS - function_words("English") - {"no"}
_NEGATIONS = frozenset({"no", "not", "never", "nor", "neither", "hardly"})
_DENIES = _NEGATIONS | {"none", "nobody", "nothing", "nowhere"}
# With such a word, which limits or denies in another way, a text may agree with a denial and with what that denies.
_IN_PART = frozenset(
    words(
        "only unless except hardly rarely seldom few little fail fails unlikely instead rather if longer"
        " without lack lacks absent missing unable impossible until"
        " nur ohne kaum selten außer seulement sans sauf rarement senza soltanto zonder slechts sem",
        keep_stop_words=True,
    )
)
_CLAUSES = lazy_regex(
    r"[,;:()—–]+|\b(?:and|or|but|although|though|because|since|while|whereas|which|who|so|when|where|as|than)\b"
    r"|\b(?:after|before)(?=\s(?:an?|the|one|its|their)\b)",
    re.IGNORECASE,
)


def find_contrary(claim: str, sentences: Sequence[str], weights: Mapping[str, float]) -> Contrary | None:
    """Return how sentences state the contrary of a claim, or None where they do not.

    `weights` are those of the claim's words. The sentences do not state the contrary where another of them says the
    same as the claim.
    """
    claim, sentences = _plain(claim), [_plain(sentence) for sentence in sentences]
    words_of_claim, rising = _words_without_bounds(claim), _PAIRS[0]
    near = _covering(_without(weights, rising), sentences)
    in_near = [_opposed(words_of_claim, _words_without_bounds(sentence), rising) for sentence in near]
    if _is_contrary(in_near) or _is_contrary(_directions_of_amounts(claim, sentences)):
        return "direction"
    for pair in _PAIRS[1:]:
        if any(side & words_of_claim for side in pair):
            other_weights, compare = _without(weights, pair), partial(_says_opposite, pair=pair)
            near = _covering(other_weights, sentences)
            if _is_contrary([_by_clauses(claim, sentence, other_weights, compare) for sentence in near]):
                return "opposite_word"
    near = _covering(weights, sentences)
    return "denial" if _is_contrary([_by_clauses(claim, sentence, weights, _differ) for sentence in near]) else None


def says_negative(text: str) -> bool:
    """Whether a text says in words that something falls, is lost or is below zero, as a minus sign would."""
    return not (DIRECTIONS[1] | _BELOW_NOUGHT).isdisjoint(words(_plain(text), keep_stop_words=True))


def is_said_alike(word: str, candidates: Set[str]) -> bool:
    """Whether one of these words may mean the same as a word, all as `words` stems them: "decline" for "fell".

    >>> is_said_alike("fell", {"declin"}), is_said_alike("allow", {"forbidden"})
    (True, False)
    """
    return not _said_alike(word).isdisjoint(candidates)


@lru_cache(maxsize=4096)
def _said_alike(word: str) -> frozenset[str]:
    pairs = [ordered for pair in _PAIRS for ordered in (pair, pair[::-1]) if word in ordered[0]]
    groups = (group for group in (*_ALIKE, *(side for side, _ in pairs)) if word in group)
    return words_alike(word).union(*groups).difference(*(opposites for _, opposites in pairs))


@lru_cache(maxsize=1024)  # several sentences may cite the same quote
def _plain(sentence: str) -> str:
    """A sentence with its denials as separate words, and without phrases that only look like denials."""
    plain = _WITH_NO.sub("without", _NOT.sub(" not", " ".join(sentence.split())))
    plain = _GOES_UP.sub("rises", _GOES_DOWN.sub("falls", plain))
    plain_words = frozenset(words(plain, stem=False, keep_stop_words=True))
    if len(plain_words & _FOREIGN) > len(plain_words & _ENGLISH):  # "no ano de 2023" is "in the year 2023"
        plain = _DENIALS.sub("not", _NO.sub(" ", plain))
    return _NOT_DENYING.sub(" ", plain)


def _without(weights: Mapping[str, float], pair: Sequence[Set[str]]) -> dict[str, float]:
    return {word: weight for word, weight in weights.items() if not any(word in side for side in pair)}


def _is_contrary(results: Sequence[bool | None]) -> bool:
    """Whether one of the sentences states the contrary, and none of them agrees."""
    return True in results and False not in results


def _covering(weights: Mapping[str, float], sentences: Sequence[str]) -> list[str]:
    """The sentences that have at least `MIN_COVERAGE` of the weight of these words."""
    least = MIN_COVERAGE * math.fsum(weights.values())
    return [sentence for sentence in sentences if coverage(weights, _words_of(sentence)) >= least > 0]


@lru_cache(maxsize=1024)
def _words_of(sentence: str) -> tuple[str, ...]:
    return tuple(words(sentence))


def _words_without_bounds(sentence: str) -> frozenset[str]:
    """The words of a sentence, with stop words, but without the bounds of numbers."""
    return frozenset(words(_BOUND.sub("", sentence), keep_stop_words=True))


def _opposed(claim: Set[str], sentence: Set[str], pair: Sequence[frozenset[str]]) -> bool | None:
    """Whether claim and sentence have words of opposite sides of a pair; a word that both have does not count.

    None if one of them has none of these words, or denies something.
    """
    if _NEGATIONS & (claim | sentence) or not any(side & claim for side in pair):
        return None
    stated, cited = ([bool(side & added) for side in pair] for added in (claim - sentence, sentence - claim))
    if not any(stated) or any(map(bool.__and__, stated, cited)):
        return False
    return True if any(cited) else None


def _directions_of_amounts(claim: str, sentences: Sequence[str]) -> list[bool | None]:
    """Whether sentences have a change by an amount of the claim in the other direction, whatever their other words.

    "Hours until the model stops grew by 32.6%" is the contrary of "The model's training time fell by 32.6 percent". A
    sentence with both directions is not compared, as it is not known to which of them the amount belongs.
    """
    changes, directions = _changed_by(claim), list[bool | None]()
    for sentence in sentences if changes else ():
        shared = content_words_of(sentence).intersection(words(claim))
        changes_of_sentence = _changed_by(sentence) if len(shared) >= MIN_SHARED else []
        if any(change.may_be(change_of_sentence) for change in changes for change_of_sentence in changes_of_sentence):
            directions.append(_opposed(_words_without_bounds(claim), _words_without_bounds(sentence), _PAIRS[0]))
    return directions


def _changed_by(sentence: str) -> list[Amount]:
    """The percentages and decimals by which something changes; none where the sentence has both directions."""
    sentence_words = _words_without_bounds(sentence)
    if all(side & sentence_words for side in _PAIRS[0]):
        return []
    written = " ".join(match[0] for match in _CHANGED_BY.finditer(sentence))
    amounts = read_sentence(written).amounts
    return [amount for amount in amounts if amount.step < 1 or amount.is_percentage]


def _by_clauses(
    claim: str, sentence: str, weights: Mapping[str, float], compare: Callable[[str, str], bool | None]
) -> bool | None:
    """Whether a clause of the sentence states the contrary of one of the claim; None if that cannot be known.

    Each clause of the claim is compared with the one that has most of its words, by weight, if that has nearly all.
    """
    clauses = [(clause, frozenset(words(clause))) for clause in _clauses(sentence)]
    results: list[bool | None] = []
    for clause in _clauses(claim):
        weights_of_clause = {word: weights[word] for word in words(clause) if word in weights}
        if len(weights_of_clause) < 2 or not clauses:
            continue
        closest, words_of_closest = max(clauses, key=lambda candidate: coverage(weights_of_clause, candidate[1]))
        if coverage(weights_of_clause, words_of_closest) >= MIN_DENIED * math.fsum(weights_of_clause.values()) > 0:
            results.append(compare(clause, closest))
    return True if True in results else next((result for result in results if result is not None), None)


def _clauses(sentence: str) -> list[str]:
    return [clause for clause in _CLAUSES.split(sentence) if clause.strip()]


def _says_opposite(clause: str, other_clause: str, *, pair: Sequence[frozenset[str]]) -> bool | None:
    """Whether two clauses have words of opposite sides of a pair; None if other words may reverse their meaning."""
    clause_words, other_words = (frozenset(words(text, keep_stop_words=True)) for text in (clause, other_clause))
    if (_IN_PART - frozenset().union(*pair)) & (clause_words | other_words):
        return None
    return _opposed(clause_words, other_words, pair)


def _differ(clause: str, other_clause: str) -> bool | None:
    """Whether one of two clauses denies what the other says; None if that cannot be known."""
    clause_words, other_words = (frozenset(words(text, keep_stop_words=True)) for text in (clause, other_clause))
    if _IN_PART & (clause_words | other_words):
        return None
    denied, also = _denied(clause), _denied(other_clause)
    if bool(denied) == bool(also):
        return False
    # It cannot be known if the denied word is in one of them only.
    return True if (denied or also) & clause_words & other_words else None


def _denied(clause: str) -> frozenset[str]:
    """The words that a clause denies: after each denial, the first that is no stop word or adverb; "" if none is."""
    clause_words = words(clause, stem=False, keep_stop_words=True)
    denied: set[str] = set()
    for at, word in enumerate(clause_words):
        if word in _DENIES:
            telling = (word for word in clause_words[at + 1 :] if word not in STOP_WORDS and not word.endswith("ly"))
            denied.add(stem_of(next(telling, "")))
    return frozenset(denied)
