"""Check by rule whether the quotes that a sentence cites, taken together, support it.

Numbers with their units, dates, times, codes and quoted words are looked up. The verdict is

- `unsupported` if one of them does not occur and cannot be calculated from those that do, if two numbers have changed
  places (`contraries.exchanged_words`), or if one is given for another year (`contraries.amounts_of_years`);
- `unchecked` if a number is calculated from others, or if there is nothing to look up; if the quotes lack a name, the
  noun that a number counts, or a word of the sentence and its known synonyms, or have another word in its place
  (`contraries.word_differences`); if they have the opposite of a word or direction, or one of two clauses denies what
  the other says (`contraries.opposite_words`), or only one doubts or limits it (`contraries.dropped_limits`); if a
  number has another bound, sign or version (`contraries.qualified_numbers`); if two words have changed places; or if
  the quotes have a word or number in another part of their sentence (`contraries.mixed_parts`), in another role
  (`contraries.changed_roles`), for another row or column of a table (`contraries.other_cells`), or in a sentence about
  something else (`contraries.other_subjects`);
- `supported` otherwise. A sentence without numbers or the like is supported if it has at least `MIN_WORDS` words, under
  the same conditions.

These rules do not see to what a number or name belongs, except within one sentence or table, or by a name or pronoun in
another sentence; nor do they know opposites and doubts in other languages. Errors of these kinds are never reported as
`unsupported`, and some of them get `supported`. A true sentence in other words than its quotes is often `unchecked`. An
entailment model sees more (`check_with_model`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from quoteweave.core.answers import Citation, Context, Verdict
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.tokens import words
from quoteweave.core.text.units import find_unit
from quoteweave.generation.gate.amounts import Amount
from quoteweave.generation.gate.cited_evidence import CitedEvidence
from quoteweave.generation.gate.claims import strip_marks
from quoteweave.generation.gate.clauses import CLAUSES, closest_part, content_words_of
from quoteweave.generation.gate.contraries.amounts_of_years import find_other_year
from quoteweave.generation.gate.contraries.changed_roles import find_changed_role
from quoteweave.generation.gate.contraries.dropped_limits import find_denial_or_limit
from quoteweave.generation.gate.contraries.exchanged_words import Exchange, find_exchange
from quoteweave.generation.gate.contraries.lengths import has_too_long_sentence, is_too_long
from quoteweave.generation.gate.contraries.mixed_parts import find_crossed_numbers, find_mixed_parts
from quoteweave.generation.gate.contraries.opposite_words import CONTRARY_REASONS, find_contrary
from quoteweave.generation.gate.contraries.other_cells import find_other_cell, has_too_many_cells
from quoteweave.generation.gate.contraries.other_subjects import find_other_subject, has_too_many_sentences
from quoteweave.generation.gate.contraries.qualified_numbers import (
    find_other_bound,
    find_other_percent,
    find_other_sign,
    find_other_version,
    has_false_direction,
    shown_directions,
)
from quoteweave.generation.gate.contraries.word_differences import (
    find_lacked_word,
    find_other_fact,
    find_other_preposition,
    find_replaced_word,
)
from quoteweave.generation.gate.derived_numbers import is_derived, is_rounded, with_exact_amounts
from quoteweave.generation.gate.facts import Facts, code_key, normalize_notation, read_sentence

MIN_SAME_LANGUAGE = 0.2
"""Below this share of common words, sentence and quotes may be in different languages."""
MIN_WORDS = 4
"""Fewest words of a sentence without numbers that is judged by its words."""
MIN_OVERLAP_ALONE = 0.9
"""Least share of such a sentence's words that must occur in its quotes, without synonyms."""
MIN_OVERLAP = 0.4
"""Least share of the words of a sentence whose numbers all occur."""
MAX_COMPARED, MAX_COMPARED_NUMBERS = 4000, 100
"""Characters and numbers of a sentence above which its words are not compared, as the time grows with their square."""
SMALL_COUNT = 12
"""A number in words up to this may be the answer's own count of things."""

NOTHING_TO_CHECK = "It states nothing that can be checked."
"""The reason for a sentence that has nothing to look up and too few words, or too few that occur in its quotes."""
TOO_LONG = "It is too long to be compared with what it cites."

_FENCED = lazy_regex(r"```[^`]*```")
# "3. Mai 2020" begins with a date, not with the number of a list's item.
_ITEM = lazy_regex(
    r"^\s*(?:[-*•]\s+)?[*_]{0,2}\(?\d{1,3}[.)][*_]{0,2}\s+"
    r"(?!(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[^\W\d_]*\b)"
)
_NAME = lazy_regex(r"(?<=[^.!?:\s\d])\s+[^\w\s]*([^\W\d_]*[A-Z][\w.’'&-]*)")


@dataclass(frozen=True, slots=True)
class _Finding:
    verdict: Verdict
    reason: str | None
    """Why the sentence is not `supported`; None if it is."""
    only_words_differ: bool = False
    """See `Citation.only_words_differ`."""


_SUPPORTED = _Finding("supported", None)


def check_sentence(
    text: str, citations: Sequence[Citation], context: Context, *, question: str = "", statement: str | None = None
) -> tuple[Citation, ...]:
    """Check one sentence, given with its marks; return its citations, each with its verdict.

    If several quotes support the sentence, those that contribute nothing are `unchecked`. Facts that the sentence
    repeats from the question are never `unsupported`, but `unchecked` if the quotes lack them. `statement` is the
    sentence without its marks, if the caller has it from a whole answer.
    """
    statement = _stated(strip_marks(text, parse_marks(text)) if statement is None else statement)
    quotes = {(citation.kind, citation.number): context.quote(citation.kind, citation.number) for citation in citations}
    evidence = _evidence([quote for quote in quotes.values() if quote is not None], context)
    statement = with_exact_amounts(statement, evidence)
    facts = read_sentence(statement)
    facts_of_question = read_sentence(question)
    overall = _gravest_finding(statement, facts, facts_of_question, evidence)
    checked = []
    for citation in citations:
        finding, quote = overall, quotes[citation.kind, citation.number]
        if finding is _SUPPORTED and quote is not None and len(evidence.quotes) > 1:
            finding = _finding_on_one(quote, statement, facts)
        checked.append(citation.model_copy(update=asdict(finding)))
    return tuple(checked)


def is_factual(text: str) -> bool:
    """Whether a sentence states something that a quote should support: a number, a date, quoted words, or a name."""
    statement = _stated(strip_marks(text, parse_marks(text)))
    if statement.endswith(("?", ":")) or statement.startswith("#"):
        return False
    return has_figures(statement) or (len(words(statement)) >= MIN_WORDS and _NAME.search(statement) is not None)


def _stated(sentence: str) -> str:
    """A sentence without marks, and without fenced code before it and the number of a list's item."""
    return _ITEM.sub("", _FENCED.sub(" ", sentence))


def has_figures(statement: str) -> bool:
    """Whether a sentence without marks has a number, a date, a time of day, a code, or quoted words.

    Small numbers in words do not count, as they may be the writer's own count of things.
    """
    facts = read_sentence(statement)
    numbers = [amount for amount in facts.amounts if not _is_small_count(amount)]
    return bool(numbers or facts.dates or facts.clocks or facts.codes or facts.quoted)


def _is_small_count(amount: Amount) -> bool:
    """Whether it may be the writer's own count of things."""
    return amount.in_words and not amount.fraction and amount.value <= SMALL_COUNT


def _evidence(cited: Sequence[Quote], context: Context) -> CitedEvidence:
    documents = {quote.document for quote in cited}
    quotes = (hit.quote for hit in context.hits)
    return CitedEvidence(cited, beside=(quote for quote in quotes if quote.document in documents))


def _finding_on_one(quote: Quote, statement: str, facts: Facts) -> _Finding:
    """Return the finding on one of several quotes that together support a sentence."""
    if _contributes(statement, facts, CitedEvidence([quote])):
        return _SUPPORTED
    return _Finding("unchecked", "What can be checked is in the other quotes that the sentence cites.")


def _gravest_finding(statement: str, facts: Facts, facts_of_question: Facts, evidence: CitedEvidence) -> _Finding:
    """Return the gravest finding on a sentence."""
    first: _Finding | None = None
    for finding in _missing_facts(statement, _without(facts, facts_of_question), evidence):
        if finding.verdict == "unsupported":  # the gravest possible verdict
            wordless = _Finding("unchecked", "It cites an image whose content is not known in words.")
            return wordless if evidence.has_wordless_image else finding
        first = first or finding
    if first is not None:
        return first
    if any(_missing_facts(statement, facts, evidence)):
        return _Finding("unchecked", "What it repeats from the question does not occur in what it cites.")
    if len(statement) > MAX_COMPARED or len(facts.amounts) > MAX_COMPARED_NUMBERS:
        return _Finding("unchecked", TOO_LONG)
    return _by_words(statement, facts, evidence)


def _without(facts: Facts, known: Facts) -> Facts:
    """The facts that are not among those `known`."""
    codes, clocks = set(map(code_key, known.codes)), {minutes for _, minutes in known.clocks}
    return Facts(
        tuple(amount for amount in facts.amounts if not any(amount.same(other) for other in known.amounts)),
        tuple(date for date in facts.dates if not any(date.confirmed_by(other) for other in known.dates)),
        tuple(clock for clock in facts.clocks if clock[1] not in clocks),
        tuple(code for code in facts.codes if code_key(code) not in codes),
        tuple(quoted for quoted in facts.quoted if quoted not in known.quoted),
    )


def _missing_facts(statement: str, facts: Facts, evidence: CitedEvidence) -> Iterator[_Finding]:
    """Yield a finding for each fact that does not occur in the quotes."""
    amounts = [amount for amount in facts.amounts if not _is_article(amount)]
    occurs = [evidence.has_amount(amount) for amount in amounts]
    present = [amount for amount, is_present in zip(amounts, occurs, strict=True) if is_present]
    normalised = normalize_notation(statement)
    for amount, is_present in zip(amounts, occurs, strict=True):
        if not is_present:
            yield _missing_amount(amount, evidence, normalised, present)
    absent = [date.text for date in facts.dates if not evidence.has_date(date)]
    absent += [written for written, minutes in facts.clocks if minutes not in evidence.clocks]
    absent += [f"“{quoted}”" for quoted in facts.quoted if not evidence.has_words(quoted)]
    yield from map(_not_found, absent)
    for code in facts.codes:
        if not evidence.has_code(code):
            yield (
                _not_found(code) if evidence.has_similar_code(code) else _Finding("unchecked", f"{code} is not found.")
            )


def _is_article(amount: Amount) -> bool:
    """Whether it is the word `one`, which is seldom a number."""
    return amount.in_words and amount.value <= 1


def _missing_amount(amount: Amount, evidence: CitedEvidence, statement: str, present: Sequence[Amount]) -> _Finding:
    explained = _explanation_of(amount, evidence, statement, present)
    if explained is not None:
        return _Finding("unchecked", f"{amount.text} {explained}.")
    if evidence.has_value(amount):
        return _Finding("unsupported", f"{amount.text} appears in what it cites with another unit.")
    if evidence.has_digits(amount) and _word_overlap(statement, evidence) < MIN_SAME_LANGUAGE:
        return _Finding("unchecked", f"The digits of {amount.text} occur in what it cites, its words do not.")
    return _not_found(amount.text)


def _explanation_of(amount: Amount, evidence: CitedEvidence, statement: str, present: Sequence[Amount]) -> str | None:
    """Explain how a number that does not occur may be right nevertheless; None if no explanation applies."""
    small = _is_small_count(amount)
    if small and evidence.has_other_count(amount):
        return None
    if evidence.has_uncited_year(amount):
        return "appears elsewhere in the document that it cites"
    if is_rounded(amount, evidence, statement):
        return "is rounded from what it cites"
    if not amount.year and is_derived(amount, evidence, statement, present):
        return "may be worked out from what it cites"
    return "may count what it cites" if small else None


def _not_found(missing: str) -> _Finding:
    return _Finding("unsupported", f"{missing} does not occur in what it cites.")


def _by_words(statement: str, facts: Facts, evidence: CitedEvidence) -> _Finding:
    """Return the finding from the words alone, where all facts occur or there are none."""
    for name in _NAME.findall(statement):
        if find_unit(name) is None and not evidence.words.issuperset(words(name)):
            named = name.strip(".").removesuffix("'s").removesuffix("’s")
            return _Finding("unchecked", f"{named} does not occur in what it cites.")
    for amount in facts.amounts:
        counts = amount.unit is None and amount.nouns and not _is_article(amount)
        if counts and evidence.words.isdisjoint(amount.nouns):
            return _Finding("unchecked", f"What {amount.text} counts does not occur in what it cites.")
    if (contrary := _contrary(statement, evidence)) is not None:
        return contrary
    share = _word_overlap(statement, evidence)
    if _has_checkable_facts(facts):
        if share < MIN_OVERLAP:
            return _Finding("unchecked", "Its numbers occur in what it cites, its words do not.")
    elif len(content_words_of(statement)) < MIN_WORDS or share < MIN_OVERLAP_ALONE:
        return _Finding("unchecked", NOTHING_TO_CHECK)
    return _said_otherwise(statement, facts, evidence) or _SUPPORTED


def _contrary(statement: str, evidence: CitedEvidence) -> _Finding | None:
    """The finding if the quotes have the statement's words but say, or may say, the contrary; None otherwise."""
    if exchanged := _exchanged(statement, evidence):
        verdict: Verdict = "unsupported" if exchanged.is_of_numbers else "unchecked"
        reason = f"It has “{exchanged.first}” where what it cites has “{exchanged.second}”, and the reverse."
        return _Finding(verdict, reason)
    if swap := find_other_year(statement, evidence.sentences):
        reason = f"What it cites has {swap.amount} for {swap.year}, and for {swap.said_year} {swap.instead}."
        return _Finding("unsupported", reason)
    if number := (
        find_other_bound(statement, evidence.texts)
        or find_other_sign(statement, evidence.sentences)
        or find_other_version(statement, evidence.texts)
        or find_other_percent(statement, evidence.texts)
    ):
        return _Finding("unchecked", _reason_of_difference(*number))
    if evidence.has_sentence(statement):
        return None
    contrary = find_contrary(statement, evidence.sentences, dict.fromkeys(words(statement), 1.0))
    if contrary or has_false_direction(statement, evidence.sentences):
        return _Finding("unchecked", CONTRARY_REASONS[contrary or "direction"])
    denial = find_denial_or_limit(statement, evidence)
    return None if denial is None else _Finding("unchecked", denial)


def _said_otherwise(statement: str, facts: Facts, evidence: CitedEvidence) -> _Finding | None:
    """The finding if the quotes lack a word of the statement, or have another word or number in its place."""
    if evidence.has_sentence(statement):
        return None
    content_words, directions = content_words_of(statement), shown_directions(statement, evidence.sentences)
    closest = evidence.closest_sentences(content_words)
    if (fact := find_other_fact(content_words, facts, closest)) is not None:
        return _Finding("unchecked", f"What it cites says this of {fact}.")
    difference = find_other_preposition(statement, evidence.sentences)
    difference = difference or find_replaced_word(statement, closest, directions)
    if difference is not None:
        return _Finding(
            "unchecked",
            f"It says otherwise than what it cites: “{difference.stated}” for “{difference.cited}”.",
            only_words_differ=True,
        )
    lacked = find_lacked_word(statement, evidence.words | directions, evidence.texts)
    if lacked is not None:
        return _Finding("unchecked", f"What it cites lacks its word “{lacked}”.", only_words_differ=True)
    if (finding := _of_another(statement, closest, evidence.sentences)) is not None:
        return finding
    cell = find_other_cell(statement, facts.amounts, evidence.texts, evidence.same)
    reason = cell and f"What it cites has {cell.value} for “{cell.table_name}”, not for “{cell.stated_name}”."
    too_long = has_too_long_sentence(closest) or has_too_many_sentences(evidence.sentences)
    if reason is None and is_too_long(statement):
        reason = TOO_LONG
    elif reason is None and (too_long or has_too_many_cells(evidence.texts)):
        reason = "What it cites is too long to be compared with it."
    return _Finding("unchecked", reason) if reason else None


def _of_another(statement: str, closest: Sequence[str], sentences: Sequence[str]) -> _Finding | None:
    """The finding if sentences have all words of a statement, but apply them to something else."""
    if crossed := find_crossed_numbers(statement, sentences):
        return _Finding("unchecked", f"What it cites has {crossed[0]} and {crossed[1]} with other numbers.")
    mixed = [find_mixed_parts(statement, sentence) for sentence in closest]
    if mixed and (mixed_word := mixed[0]) is not None and all(mixed):
        beside = f" beside {mixed_word.number}" if mixed_word.number else ""
        return _Finding(
            "unchecked", f"It has “{mixed_word.stated}”{beside} where what it cites has “{mixed_word.cited}”."
        )
    roles = [find_changed_role(statement, sentence) for sentence in closest]
    if roles and roles[0] and all(roles):
        return _Finding("unchecked", _reason_of_difference(*roles[0]))
    subject = find_other_subject(statement, sentences)
    return subject and _Finding(
        "unchecked", f"What it cites may say this of “{subject.cited}”, not of “{subject.stated}”."
    )


def _reason_of_difference(stated: str, cited: str) -> str:
    return f"It has “{stated}” where what it cites has “{cited}”."


def _exchanged(statement: str, evidence: CitedEvidence) -> Exchange | None:
    """Two parts of a statement whose places are exchanged in all closest sentences of one of its clauses.

    None also if the quotes say elsewhere what the statement says of the two.
    """
    by_sentence: dict[str, Exchange | None] = {}  # several clauses may have the same closest sentence
    for part in dict.fromkeys([statement, *CLAUSES.split(statement)]):
        closest = evidence.closest_sentences(content_words_of(part))
        for sentence in set(closest) - by_sentence.keys():
            by_sentence[sentence] = _exchanged_in(statement, sentence)
        exchanges = [by_sentence[sentence] for sentence in closest]
        if exchanges and all(swap is not None and not evidence.has_words(swap.phrase) for swap in exchanges):
            return exchanges[0]
    return None


def _exchanged_in(statement: str, sentence: str) -> Exchange | None:
    """Two parts of a statement that are exchanged in a sentence, or in its clause closest to the statement."""
    part = closest_part(sentence, content_words_of(statement))
    return find_exchange(statement, sentence) or (find_exchange(statement, part) if part != sentence else None)


def _has_checkable_facts(facts: Facts) -> bool:
    """Whether there is more to look up than a year, as any quote of a report may contain that."""
    amounts = any(not amount.year and not _is_article(amount) for amount in facts.amounts)
    return bool(amounts or facts.dates or facts.clocks or facts.codes or facts.quoted)


def _word_overlap(statement: str, evidence: CitedEvidence) -> float:
    """The share of a sentence's words that occur in its quotes."""
    content_words = content_words_of(statement)
    return len(content_words & evidence.words) / (len(content_words) or 1)


def _contributes(statement: str, facts: Facts, evidence: CitedEvidence) -> bool:
    """Whether a quote contains a fact of the sentence, or half of its words."""
    content_words = content_words_of(statement)
    return (
        any(not amount.year and evidence.has_amount(amount) for amount in facts.amounts)
        or any(map(evidence.has_date, facts.dates))
        or any(minutes in evidence.clocks for _, minutes in facts.clocks)
        or any(map(evidence.has_code, facts.codes))
        or any(map(evidence.has_words, facts.quoted))
        or 2 * len(content_words & evidence.words) >= len(content_words)
    )
