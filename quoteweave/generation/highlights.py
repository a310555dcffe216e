"""Find the characters of a quote that support a claim, by rule; none where that is uncertain.

1. In a table with all numbers of the claim, whose rows are lines with ` | ` between cells: the cells that the claim
   states in full, in rows that it names, with their row's first cell, and their column's heading if it says that.
2. Sequences of words that the claim repeats from the quote (`MIN_REPEATED_WORDS` or more, or everything that it has in
   quotation marks), unless the sentences around them contain more of the claim's words, or the claim continues with
   another number. Of several equal sequences, the one in the sentence that is closest to the claim is taken.
3. Otherwise the sentences of a text, or the lines of a picture without cells, that contain the claim's numbers and
   words: the first must contain `MIN_SHARED` of the weight of the claim's words, and `MIN_WEIGHT`; a second is
   taken where the first lacks a number that the quote has. Each sentence is narrowed to the consecutive clauses that
   contain all numbers that it shares with the claim, and those shared words that cost few others (`MISSING_COST`).

A wrong highlight is worse than none: where no rule applies, there are no spans, and the whole element is the evidence.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.core.text.question_words import denials
from quoteweave.core.text.references.mentions import number_words
from quoteweave.core.text.tokens import FoldedToken, folded_tokens, has_digit, words
from quoteweave.core.text.word_alignment import alignable
from quoteweave.core.text.word_patterns import alternation
from quoteweave.generation.extractive.tables.stated_cells import Range, stated_cells, text_at
from quoteweave.generation.gate.facts import read_sentence, stated_words
from quoteweave.generation.sentences import Sentence, split_sentences, text_of

MIN_REPEATED_WORDS = 5
"""The least number of words in a repeated sequence."""
MIN_CONTENT_WORDS = 3
"""The least number of these that must not be stop words."""
MIN_SHARED = 0.5
MIN_WEIGHT = 3.0
"""Weight of shared words below which a sentence must share all: two words of its subject say little."""
NUMBER_WEIGHT = 2.0
"""Weight of a word with a digit, where other words weigh 1."""
MAX_SAID_OTHERWISE = 1
"""If a quote lacks more words of a claim, the words before the first shared one may well stand for them."""
MISSING_COST = 6
"""The most further words that are marked for one word that the claim shares with the sentence."""
MAX_CUTS = 200
"""A text without full stops that has more cuts between phrases is no sentence to be narrowed."""
MAX_BEFORE = 1000
"""If a sentence has more characters before what a claim repeats, no denial is looked for."""
MAX_SENTENCES = 2
MAX_OF_PICTURE = 0.5
"""Share of a picture's text above which a highlight says no more than the whole picture."""

_QUOTED = lazy_regex(r"“([^“”]{3,})”|\"([^\"]{3,})\"|«([^«»]{3,})»")
_SIGNS = " \n\t.,;:"
_CUT = lazy_regex(r"…|\.{3}")
_JOINING = "(?:and|but|or|while|und|aber|oder|et|mais|ou|y|pero|o)"
# Between clauses stands punctuation followed by a space, which numbers do not contain, or a conjunction before what may
# be a subject. Other conjunctions join phrases of one clause, and a phrase that only says where, when or how begins
# with a preposition ("of" and its like belong to the word before). "Between 1907 and 1911" is not cut.
_SUBJECT = (
    "(?:it|its|he|his|she|her|they|their|we|our|you|your|there|this|that|these"
    "|those|the|an?|no|each|every|all|some|many|most|several|der|die|das|den|eine?|sein|seine|ihr|ihre|es|er|sie|wir"
    "|kein|keine|les?|la|une?|des|ils?|elles?|nous|el|los|las|unas?|unos?|su|sus)"
)
_PREPOSITION = (
    "(?:after|against|at|before|beside|between|by|during|for|from|in|into|on|through|to|under|until|with|without"
    "|am|an|auf|aus|bei|beim|bis|durch|für|im|mit|nach|ohne|seit|unter|vor|zu|zum|zur|zwischen"
    "|au|aux|avec|dans|depuis|en|entre|par|pour|sans|sous|sur|con|desde|hasta|para|por|sin)"
)
# A run of spaces is tried from its beginning alone, and as a whole: from each of them, a long run would take minutes.
_SPACES = r"(?<!\s)\s++"
# A clause that says what another one states, asks or denies.
_REPORTING = lazy_regex(r"(?:that|whether|dass|daß|ob|que)\s|qu['’]", re.IGNORECASE)
_REPORTED = lazy_regex(r"\s(?:that|dass|que)\s+\Z", re.IGNORECASE)


def find_highlights(claim: str, quote: Quote) -> list[Range]:
    """Find the spans of `text_of(quote)` that support the claim, in order and disjoint; none where uncertain."""
    text, claim = text_of(quote), claim.replace(quote.chapter_unit or " ", " ")  # which stands elsewhere
    if not text.strip() or not claim.strip():
        return []
    table, pictured = " | " in text, quote.kind == "image"
    above = words(f"{quote.caption or ''}\n{quote.unit or ''}\n{quote.section or ''}") if table else []
    ranges = (stated_cells(claim, text, set(above)) if table else []) or _quoted(claim, text)
    if not ranges and _lacks_numbers(claim, text):
        return []
    if not ranges:
        ranges = _repeated(claim, text)
        if not table and not _covers_claim(claim, text, ranges):
            ranges = _sentences(claim, text, pictured=pictured) or ranges
    ranges = _joined(ranges, text, apart=table)
    covered = sum(end - start for start, end in ranges)
    # A highlight of all labels of a chart says no more than the whole chart.
    return [] if pictured and not table and covered > MAX_OF_PICTURE * len(text) else ranges


def _quoted(claim: str, text: str) -> list[Range]:
    """Find the claim's quotations in the text."""
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(claim)]
    pieces = [folded_tokens(piece) for quotation in quoted for piece in _CUT.split(quotation)]
    text_tokens = folded_tokens(text) if pieces else []
    pairs = ((run, piece) for piece in pieces if len(piece) > 1 for run in _runs(piece, text_tokens))
    return [_range(run) for run, piece in pairs if _is_quoted(run, piece)]


def _is_quoted(run: Sequence[FoldedToken], piece: Sequence[FoldedToken]) -> bool:
    """Whether these are all words of the quotation, or a long sequence of them."""
    return len(run) == len(piece) or (len(run) >= MIN_REPEATED_WORDS and _has_content_words(run))


def _repeated(claim: str, text: str) -> list[Range]:
    """Find what the claim repeats word for word: its longest sequences of words in the text.

    What the text has several times is taken from the sentence that is closest to the claim.
    """
    text_tokens = folded_tokens(text)
    long = [
        run
        for run in _runs(folded_tokens(claim), text_tokens)
        if len(run) >= MIN_REPEATED_WORDS and _has_content_words(run)
    ]
    sentences = split_sentences(text) if long else []
    return [_with_denial(text, sentences, _closest_place(claim, run, text_tokens, sentences)) for run in long]


def _closest_place(
    claim: str, run: Sequence[FoldedToken], text_tokens: Sequence[FoldedToken], sentences: Sequence[Sentence]
) -> Range:
    """Where the text has this sequence of words, in the sentence that is closest to the claim."""
    text_words, run_words, size = _words_of(text_tokens), _words_of(run), len(run)
    starts = (at for at, word in enumerate(text_words) if word == run_words[0])
    places = [_range(text_tokens[at : at + size]) for at in starts if text_words[at : at + size] == run_words]
    weights, amounts = _weights(claim), read_sentence(claim).amounts

    def likeness(place: Range) -> float:
        around = next((sentence.text for sentence in sentences if sentence.start <= place[0] < sentence.end), "")
        return sum(weights[word] for word in sorted(weights.keys() & stated_words(around, amounts)))

    return max(places, key=likeness) if len(places) > 1 else places[0]


def _with_denial(text: str, sentences: Sequence[Sentence], supporting: Range) -> Range:
    """The range, extended to the beginning of its sentence if words there deny it."""
    around = (sentence.start for sentence in sentences if sentence.start <= supporting[0] < sentence.end)
    start = next(around, supporting[0])
    before = (start, supporting[0])
    if supporting[0] - start > MAX_BEFORE or denials().search(text, *before) is None:
        return supporting
    clauses = [cut.end() for cut in _cuts().finditer(text, *before) if cut["clause"] is not None]
    # What is repeated may begin with the word that opens its clause, or right after it.
    starts = [start, *clauses, supporting[0]]
    opens = [True, *(True for _ in clauses), _is_reported(text, before, supporting[0])]
    return (start if _denied(text, (start, supporting[1]), starts, opens)[-1] else supporting[0]), supporting[1]


@cache
def _cuts() -> re.Pattern[str]:
    """A pattern of what is between clauses and phrases, made when a first claim is read."""
    subject = rf"(?:\d|(?:{_SUBJECT}|{alternation(number_words())})\s)"
    return re.compile(
        r"(?P<range>(?:between|zwischen|entre)\s++(?:[^\s,;]++\s++){1,4}?(?:and|und|et|y)\s)"
        rf"|(?P<clause>(?:{_SPACES}{_JOINING}\b)?"
        rf"(?:[,;:]\s++|[，；：]|(?:{_SPACES}|(?<=\s))[–—]\s++|(?:{_SPACES})?[()]\s*+)+(?:{_JOINING}\s++)?"
        rf"|(?:(?<!\d){_SPACES}{_JOINING}|{_SPACES}(?:that|dass|que))\s++(?={subject}))"
        rf"|{_SPACES}{_JOINING}\s++|{_SPACES}(?={_PREPOSITION}\s)",
        re.IGNORECASE,
    )


def _range(run: Sequence[FoldedToken]) -> Range:
    return run[0][1], run[-1][2]


def _runs(claim_tokens: Sequence[FoldedToken], text_tokens: Sequence[FoldedToken]) -> list[Sequence[FoldedToken]]:
    """Word sequences common to both, except those after which each continues with a number of its own."""
    claim_words, text_words = _words_of(claim_tokens), _words_of(text_tokens)
    if not alignable(claim_words, text_words):
        return []
    matcher = SequenceMatcher(None, claim_words, text_words, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    return [
        text_tokens[block.b : block.b + block.size]
        for block in blocks
        if not (_is_number_at(claim_tokens, block.a + block.size) and _is_number_at(text_tokens, block.b + block.size))
    ]


def _words_of(tokens: Sequence[FoldedToken]) -> list[str]:
    return [word for word, *_ in tokens]


def _is_number_at(tokens: Sequence[FoldedToken], at: int) -> bool:
    return at < len(tokens) and has_digit(tokens[at][0])


def _has_content_words(run: Sequence[FoldedToken]) -> bool:
    return len(words(" ".join(_words_of(run)))) >= MIN_CONTENT_WORDS


def _lacks_numbers(claim: str, text: str) -> bool:
    """Whether a claim has numbers, and the text none of them."""
    numbers = set(filter(has_digit, words(claim)))
    return bool(numbers) and numbers.isdisjoint(words(text))


def _covers_claim(claim: str, text: str, ranges: Sequence[Range]) -> bool:
    """Whether these ranges contain all words of the claim that occur in the sentences around them."""
    claim_words = set(words(claim))
    words_covered = claim_words.intersection(words(" ".join(text_at(text, part) for part in ranges)))
    around = [
        sentence.text
        for sentence in split_sentences(text)
        if any(sentence.start < end and start < sentence.end for start, end in ranges)
    ]
    return bool(ranges) and claim_words.intersection(words(" ".join(around))) <= words_covered


def _sentences(claim: str, text: str, *, pictured: bool) -> list[Range]:
    """Find the one or two sentences, or lines of a picture, that contain most of the claim's words by weight."""
    weights = _weights(claim)
    parts = _lines(text) if pictured else [(sentence.start, sentence.end) for sentence in split_sentences(text)]
    words_of_parts = [weights.keys() & set(words(text_at(text, part))) for part in parts]
    # A number alone, in a sentence that shares nothing else with the claim, is about something else.
    telling_parts = (part_words for part_words in words_of_parts if len(part_words) > 1)
    numbers_needed = set(filter(has_digit, set[str]().union(*telling_parts)))
    chosen: list[tuple[int, set[str]]] = []
    covered: set[str] = set()
    for _ in range(MAX_SENTENCES):
        gains = [sum(weights[word] for word in sorted(words_held - covered)) for words_held in words_of_parts]
        best = max(range(len(parts)), key=lambda at: gains[at], default=None)
        if best is None or not gains[best] or (chosen and not numbers_needed - covered):
            break
        chosen.append((best, words_of_parts[best] - covered))
        covered |= words_of_parts[best]
    first = sum(weights[word] for word in sorted(chosen[0][1])) if chosen else 0.0
    numbers = set(filter(has_digit, weights))
    total = sum(weights.values())
    sure = first >= max(MIN_SHARED * total, min(MIN_WEIGHT, total)) and numbers_needed <= covered
    if not chosen or not sure or (numbers and not numbers & covered):
        return []
    if pictured:
        return [parts[at] for at, _ in chosen]
    may_begin_later = len(weights.keys() - frozenset().union(*words_of_parts)) <= MAX_SAID_OTHERWISE
    return [_clauses(text, parts[at], needed, may_begin_later=may_begin_later) for at, needed in chosen]


def _clauses(text: str, sentence: Range, needed: set[str], *, may_begin_later: bool) -> Range:
    """The clauses of a sentence, in sequence, that have the numbers needed, and the other words at the least cost.

    The cost is that of the words marked, and `MISSING_COST` for each word that is missing, because a word that a
    distant clause happens to have would have everything between marked. What follows the last word needed is left out
    from the next preposition on. If the evidence `may_begin_later`, its first phrases are left out, too, as long as all
    their needed words occur again.
    """
    phrases = _phrases(text, sentence, needed)
    numbers = set(filter(has_digit, needed))
    best, least = phrases, float("inf")
    for first, opening in enumerate(phrases):
        found_words, size = set[str](), 0
        may_begin = opening.opens_clause and not opening.denied
        for last, phrase in enumerate(phrases[first:], first + 1) if may_begin else ():
            found_words |= phrase.needed
            size += phrase.size
            cost = size + MISSING_COST * len(needed - found_words)
            if numbers <= found_words and cost <= least:
                best, least = phrases[first:last], cost
            if found_words == needed or size > least:
                break
    while may_begin_later and len(best) > 1 and not best[1].denied and best[0].needed <= _needed(best[1:]):
        best = best[1:]
    return best[0].start, best[-1].end


def _needed(phrases: Iterable["_Phrase"]) -> set[str]:
    return set().union(*(phrase.needed for phrase in phrases))


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A part of a sentence between two cuts."""

    start: int
    end: int
    opens_clause: bool
    denied: bool
    """Whether words before it may negate, deny or doubt it, so that no evidence may begin with it."""
    needed: set[str]
    size: int
    """In words."""


def _phrases(text: str, sentence: Range, needed: set[str]) -> list[_Phrase]:
    """Cut a sentence into clauses, and these before prepositions; one of too many parts is left whole."""
    start, end = sentence
    cuts = [cut for cut in _cuts().finditer(text, start, end) if cut["range"] is None]
    cuts = cuts if len(cuts) <= MAX_CUTS else []
    starts, ends = [start, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), end]
    opens = [True, *(cut["clause"] is not None for cut in cuts)]
    denied = _denied(text, sentence, starts, opens) if cuts else [False]
    return [
        _Phrase(
            first, last, opening, denies, needed.intersection(words(text[first:last])), len(text[first:last].split())
        )
        for first, last, opening, denies in zip(starts, ends, opens, denied, strict=True)
    ]


def _denied(text: str, sentence: Range, starts: Sequence[int], opens: Sequence[bool]) -> list[bool]:
    """Whether what begins at each of `starts` is denied before: in its own clause, or in one that reports a clause.

    "The chair denied, in May, that the harbour grew" denies "in May" and all that follows it.
    """
    denying = [match.start() for match in denials().finditer(text, *sentence)]
    reported = [at for at, clause in zip(starts, opens, strict=True) if clause and _is_reported(text, sentence, at)]
    first = denying[0] if denying and reported and denying[0] < reported[-1] else sentence[1]
    are_denied, clause, next_denial = list[bool](), sentence[0], 0
    for at, opening in zip(starts, opens, strict=True):
        clause = at if opening else clause
        while next_denial < len(denying) and denying[next_denial] < at:
            next_denial += 1
        are_denied.append(first < at or (next_denial > 0 and denying[next_denial - 1] >= clause))
    return are_denied


def _is_reported(text: str, sentence: Range, at: int) -> bool:
    """Whether the clause from `at` begins with "that", or comes right after it."""
    return _REPORTING.match(text, at) is not None or _REPORTED.search(text, max(sentence[0], at - 8), at) is not None


def _lines(text: str) -> list[Range]:
    starts = itertools.accumulate((len(line) for line in text.splitlines(keepends=True)), initial=0)
    return [(start, start + len(line)) for start, line in zip(starts, text.splitlines(), strict=False) if line.strip()]


def _weights(claim: str) -> dict[str, float]:
    return {word: NUMBER_WEIGHT if has_digit(word) else 1.0 for word in dict.fromkeys(words(claim))}


def _joined(ranges: Iterable[Range], text: str, *, apart: bool) -> list[Range]:
    """Sort ranges, and merge those that overlap or, unless they are cells, are separated by punctuation only."""
    joined: list[Range] = []
    for start, end in sorted(set(ranges)):
        touches = joined and (start < joined[-1][1] or (not apart and not text[joined[-1][1] : start].strip(_SIGNS)))
        if touches:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        elif start < end:
            joined.append((start, end))
    return joined
