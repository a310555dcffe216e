"""Check by rule whether a statement has the kind of answer that a question asks for, beyond the question."""

import re
from collections.abc import Callable, Mapping, Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import CONTACT, AnswerType, field_of_term, with_words_alike
from quoteweave.core.text.question_words import Quantity
from quoteweave.core.text.tokens import WORD, has_digit, words
from quoteweave.core.text.units import dimensions_in, find_unit
from quoteweave.generation.answer_text import is_code
from quoteweave.generation.extractive.acts.doers import tells_doer, tells_who_is
from quoteweave.generation.extractive.acts.instructions import instructs, tells_to_do
from quoteweave.generation.extractive.acts.opposites import has_none
from quoteweave.generation.extractive.acts.own_clauses import on_what_is_asked
from quoteweave.generation.extractive.acts.prepositions import asks_whom, tells_after_preposition
from quoteweave.generation.extractive.acts.stated_amounts import (
    asks_change,
    is_share_of_part,
    lacks_asked_change,
    new_facts,
    new_numbers,
    own_amounts,
    tells_how,
)
from quoteweave.generation.extractive.acts.stated_reasons import tells_reason
from quoteweave.generation.extractive.acts.times import is_headed_by_time, tells_occasion, tells_time_of_its_own
from quoteweave.generation.extractive.asked_nouns import EXAMPLE, IN_EXAMPLE, is_substantive
from quoteweave.generation.extractive.criteria.counts import counted_numbers
from quoteweave.generation.extractive.foreign.kinds import tells_foreign_kind
from quoteweave.generation.extractive.named.answer_names import ASKS_WHO_DID, names_colour, names_person
from quoteweave.generation.extractive.named.places import names_place
from quoteweave.generation.extractive.named.prices import MONEY_IN_WORDS, tells_free
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.extractive.tables.row_lookup import PERSON, name_other_doers
from quoteweave.generation.gate.dates import NAMES_WEEKDAY, RECENT_YEAR
from quoteweave.generation.gate.facts import normalize_notation, read_evidence
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms, subject_terms
from quoteweave.generation.sentence_kinds import (
    CLAUSES,
    INSTRUCTION,
    clauses_of,
    denies,
    has_denying_word,
    leaves_open,
    says_what,
    tells_to,
    words_of_limit,
)

DEFINED_WITHIN = 25
"""A sentence defines a word if "is" or the like follows within so many characters."""
NAMED_WITHIN = 6
"""All that "which" stands for must be among so many words before it."""

_DEFINES = lazy_regex(
    r"^\s*\(|\b(?:is|are|means?|refers? to|stands? for|defined|denotes?|known as|called|bedeutet|ist|sind|est|es)\b",
    re.IGNORECASE,
)
_MEASURED_EXTENT = lazy_regex(
    r"(?:\d[\d.,]*[\s-]*|(?:[^\W\d]+[\s-]+){0,2})[^\W\d]+[\s-]+(?:high|tall|deep|wide|long|thick|hoch|tief|breit|lang|dick)\b",
    re.IGNORECASE,
)
# "Boats longer than 15 metres moor at the quay" tells nothing about the quay.
_LIMITED_NOUN = lazy_regex(
    r"(\b(?!(?:is|are|was|were|be|been|no|not|much|far|even|slightly)\b)[^\W\d_]+)\s+"
    r"(?:(?:more|less)\s|\w{2,}er\s)than\s+\d[\d.,]*(?:\s[^\W\d_]+)?",
    re.IGNORECASE,
)
_WHICH_COSTS = lazy_regex(r",\s+which\s+costs?\s[^;.]*", re.IGNORECASE)
_VERB = lazy_regex(r"\s(?:is|are|was|were|can|may|must|will|has|have)\s", re.IGNORECASE)
# "Nausea (%)", "Share, in per cent", the name of a row or column of percentages
_IN_PERCENT = lazy_regex(
    r"(?:\(\s*(?:in\s+)?|,\s*(?:in\s+)?|\bin\s+)(?:%|per\s?cent)\s*\)?\s*$", re.IGNORECASE | re.MULTILINE
)
_OF_UNIT = lazy_regex(r"\W*how\s+much\s+(\w+)", re.IGNORECASE)
_APPOSITION = lazy_regex(r",\s+((?:(?:the|an?|our|its)\s+)?[A-ZÀ-Þ][^,;:]{1,60}),\s+(?=[a-zß-ÿ]+s\b)")
_WHICH_IS = lazy_regex(r",(?=\s+(?:which|who)\s+(?:is|are|was|were|has|have|had|can)\b)")
_UNTIL = lazy_regex(r"\b(?:until|till|through)\s", re.IGNORECASE)
# "Students whose results are poor must take three modules" does not tell how many modules students must take, nor does
# "Includes 20 outlet stores" tell how many stores there are.
_BEGINS_WITH_CASE = lazy_regex(
    r"\W*(?:if|when|whenever|unless|where|includ(?:es|ing)|exclud(?:es|ing)|of\s+(?:these|those|which)|[^\W\d_]{3,}s\s+whose)\b",
    re.IGNORECASE,
)
# "Refill the bean hopper" does not tell what the bean hopper is.
_ASKS_WHAT_IT_IS = lazy_regex(
    r"\W*what(?:['’]s|\s+(?:is|are))\s+(?:(?:the|our)\s+)?[\w-]+(?:\s+[\w-]+)?\W*", re.IGNORECASE
)
_PREFIX_RE = lazy_regex(r"^\W*re(?=[a-z]{3})", re.IGNORECASE)
_HYPOTHETICAL = lazy_regex(
    r"\b(?:should|would|could|might|whether|argu(?:es?|ed|ing)|claim(?:s|ed|ing)|alleg(?:es?|ed|ing)|believ(?:es?|ed)"
    r"|suspect(?:s|ed)?|urg(?:es?|ed))\b",
    re.IGNORECASE,
)
# A year tells neither the day nor the month.
_ASKS_DAY_OR_MONTH = lazy_regex(r"\b(?:(?P<day>days?|dates?)|months?)$", re.IGNORECASE)
_ASKS_WHEN_ALLOWED = lazy_regex(
    r"when\s+(?:(?:may|can|should|must|could)\b|(?:do|does)\b[^,;?]*\b(?:have|need)\s+to\b)", re.IGNORECASE
)
_SAYS_CONDITION = lazy_regex(
    r"\b(?:if|when|once|unless|until|before|after|within|during|(?:longer|shorter|more|less)\s+than"
    r"|or\s+(?:longer|shorter|more|less)|from|where|only)\b",
    re.IGNORECASE,
)
_ASKS_IF_MAY = lazy_regex(r"(?:can|may)\b(?:\s+(?:I|we|you|one)\s+(?P<verb>\w+))?", re.IGNORECASE)
_SHOULD = lazy_regex(r"\bshould\b", re.IGNORECASE)
_ASKS_ADVICE = lazy_regex(r"(?:should|must)\s+(?:I|we|one|you)\b|do\s+(?:I|we)\s+(?:have|need)\s+to\b", re.IGNORECASE)
_ADVISES = lazy_regex(
    r"\b(?:should|must|may|can|cannot|could|need|needs|needed|have to|has to|required?|recommended?|advised?|allowed"
    r"|permitted|forbidden|(?:is|are|be|as\s+\w+\s+as|if|wherever)\s+(?:not\s+|also\s+)?possible"
    r"|able|always|never|accepted|available|welcome|free|do not|don['’]t|optional|mandatory|please|better|safe)\b",
    re.IGNORECASE,
)
_MIGHT_BE = lazy_regex(r"\b(?:there\s+(?:might|could|would)|(?:might|could|would)\s+there)\s+be\b", re.IGNORECASE)
_ASKS_HOW_MANY_FIT = lazy_regex(r"how\s+many\s[^?]*?\b(?:can|could)\b", re.IGNORECASE)


def has_answer_kind(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement has the kind of answer asked for: a count, a percentage, a date, a name, a reason…

    For a question of no such kind, the statement must not merely introduce what follows it. What is so only in one case
    ("If they cannot agree, …") tells neither how many there are nor who does something, and an example tells no number.
    How much something is does not tell how much it has changed.
    """
    asks, question_text, text = question.asks, question.text, statement.text
    is_of_one_case = _BEGINS_WITH_CASE.match(text) is not None and not _SAYS_CONDITION.search(question_text)
    if is_of_one_case and asks in {"count", "person", "definition"}:
        return False
    is_example = EXAMPLE.match(text) is not None and not EXAMPLE.search(question_text)
    is_supposed = _MIGHT_BE.search(text) is not None and not _MIGHT_BE.search(question_text)
    no_number = is_example or is_supposed or lacks_asked_change(text, question_text)
    if (asks in NUMBER_KINDS and no_number) or (asks == "person" and _names_other_doers(statement, question)):
        return False
    if statement.is_computed or statement.has_asked_kind:
        return True
    is_of_cells = statement.is_of_cells
    # "Move one message" tells no limit.
    asks_no_act = _ASKS_WHAT_IT_IS.fullmatch(question_text) or _ASKS_HOW_MANY_FIT.match(question_text)
    if asks_no_act and not is_of_cells and INSTRUCTION.match(_PREFIX_RE.sub("", text)):
        return False
    # What another clause or verb says is about another thing or act.
    statement = on_what_is_asked(statement, question)
    if not statement.text.strip() or (IN_EXAMPLE.search(text) and not IN_EXAMPLE.search(question_text)):
        return False
    in_its_language = None if is_of_cells else tells_foreign_kind(text, question)
    tells = _CHECKS.get(asks, is_substantive)(statement, question) if in_its_language is None else in_its_language
    tells = tells or (asks == "date" and not is_of_cells and tells_occasion(text, question))
    return tells and (is_of_cells or tells_after_preposition(text, question))


def _has_count(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a number precedes the thing that is counted, or stands in a table's row about it."""
    if statement.is_of_cells or "number" in statement.words:  # "The number of columns is 2000."
        return bool(new_numbers(statement, question))
    return bool(counted_numbers(statement, question)) or has_none(statement.text, question.text)


def _names_quantity(statement: Statement, quantity: Quantity) -> bool:
    """Whether cells give a quantity, by their unit or the words around them: goals and games tell nobody's age."""
    above = f"{statement.text}\n{statement.quote.caption or ''}\n{statement.quote.section or ''}"
    return not (quantity.in_rows.isdisjoint(words(above)) and quantity.dimensions.isdisjoint(dimensions_in(above)))


def _clauses_on_subject(statement: Statement, question: QuestionTerms) -> str:
    """The clauses of a statement that have a subject word of the question; the whole statement if none has one.

    "A guarantee of five years, and worn batteries are taken back at no charge" does not say how long charging takes.
    """
    text, subject = normalize_notation(statement.text), question.subject
    quantity = question.quantity
    words_of_subject = subject | quantity.named if quantity is not None else subject  # "Range: 60 km"
    clauses_on_subject = [
        clause
        for clause in clauses_of(_with_relatives(_with_appositions(text, subject), subject))
        if not words_of_subject.isdisjoint(words(clause))
    ]
    with_all_words = [clause for clause in clauses_on_subject if subject <= set(words(clause))]
    shown = with_all_words or clauses_on_subject
    return ", ".join(shown) if shown and not statement.is_of_cells else text


def _with_appositions(text: str, subject: Set[str]) -> str:
    """A text without the commas around the thing asked about: "Its highest point, Mount Varde, rises 186 metres"."""
    return _APPOSITION.sub(lambda match: f" {match[1]} " if subject <= set(words(match[1])) else match[0], text)


def _with_relatives(text: str, subject: Set[str]) -> str:
    """A text without the comma between the thing asked about and a relative clause: "the Long Window, which is"."""
    return _WHICH_IS.sub(
        lambda match: (
            "" if subject <= set(words(" ".join(text[: match.start()].split()[-NAMED_WITHIN:]))) else match[0]
        ),
        text,
    )


def _has_percentage(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement has a percentage, in a clause about what the question is about."""
    if not statement.is_of_cells and is_share_of_part(statement.text, question.text):
        return False
    cells = ((row.name, *cell) for row in statement.rows for cell in row.cells)
    if any(has_digit(cell) and _IN_PERCENT.search(f"{name}\n{heading}") for name, heading, cell in cells):
        return True
    clauses = _clauses_on_subject(statement, question)
    clauses = clauses if statement.is_of_cells else own_amounts(clauses, question.text)
    amounts = new_facts(clauses, question.text)[1]
    return any(amount.is_percentage for amount in amounts)


def _has_price(statement: Statement, question: QuestionTerms) -> bool:
    if question.quantity is not None:  # "How much does it weigh?"
        return _has_amount(statement, question)
    text = statement.text
    if not statement.is_of_cells:
        text = own_amounts(_without_price_of_another(text, question), question.text)
    amounts, named = new_facts(text, question.text)[1], MONEY_IN_WORDS.search(text) is not None
    if asks_change(question.text):
        return any(not amount.year for amount in amounts)
    if tells_free(statement.text, question):
        return True
    return any(amount.is_money for amount in amounts) or ((statement.is_of_cells or named) and bool(amounts))


def _without_price_of_another(text: str, question: QuestionTerms) -> str:
    """A text without the price of something in its clause that a question does not name.

    "Cruises are covered with the option Sea, which costs 22 euros" does not tell what cruises cost.
    """
    match = _WHICH_COSTS.search(text)
    if match is None or not _VERB.search(text[: match.start()]):
        return text
    thing_words = words(" ".join(text[: match.start()].split()[-4:]))
    return text[: match.start()] + text[match.end() :] if question.subject.isdisjoint(thing_words) else text


def _has_amount(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement has a number, which must be a time, a weight or a length if one of these is asked for."""
    quantity = question.quantity
    if statement.is_of_cells:
        facts, amounts = new_facts(statement.text, question.text)
        is_named = quantity is None or _names_quantity(statement, quantity)
        if question.asked_by.casefold() == "how often":  # "Patients: 146"
            is_named = bool(tells_how(question.asked_by, statement.text) or "time" in dimensions_in(statement.text))
        return is_named and any(not amount.year for amount in amounts) | bool(facts.clocks)  # 0:29 h
    clauses = _LIMITED_NOUN.sub(r"\1", _clauses_on_subject(statement, question))
    if (tells := tells_how(question.asked_by, clauses)) is not None:
        return tells
    # The height of a thing is no distance.
    clauses = _MEASURED_EXTENT.sub(" ", clauses) if quantity is not None and "how far" in quantity.asked_by else clauses
    clauses = own_amounts(clauses, question.text)
    amounts = [amount for amount in new_facts(clauses, question.text)[1] if not amount.year]
    of_unit = _OF_UNIT.match(question.text) if quantity is None else None
    if of_unit is not None and (unit := find_unit(of_unit[1])) is not None:  # "how much horsepower"
        return any(amount.unit == unit for amount in amounts)
    if quantity is None or not quantity.dimensions:
        return bool(amounts)
    if question.asked_by.casefold() == "how long" and _UNTIL.search(clauses) and read_evidence(clauses).dates:
        return True
    measured = {amount.unit.dimension for amount in amounts if amount.unit is not None}
    return not quantity.dimensions.isdisjoint(measured | dimensions_in(clauses))


def _has_date(statement: Statement, question: QuestionTerms) -> bool:
    facts, amounts = new_facts(statement.text, question.text)
    if (of_part := _ASKS_DAY_OR_MONTH.search(question.asked_by)) is not None and not statement.is_of_cells:
        part = "day" if of_part["day"] else "month"
        return any(getattr(date, part) for date in facts.dates) or (
            part == "day" and bool(NAMES_WEEKDAY.search(statement.text))
        )
    lower_text = statement.text.casefold()  # "The fee for 2022 was paid" does not tell when
    dated = any(amount.year and not re.search(rf"\bfor\s+{amount.text}\b", lower_text) for amount in amounts)
    headed = is_headed_by_time(statement.quote.section or "", question.text) and not denies(statement.text)
    if facts.dates or facts.clocks or dated or headed or _is_dated(statement):
        return True
    subject = question.subject.intersection(statement.words)
    clauses = clauses_of(statement.text) if ": " not in statement.text else [statement.text]
    of_subject = (clause for clause in clauses if subject and subject <= set(words(clause)))
    if any(tells_time_of_its_own(clause, question.text) for clause in of_subject):
        return True
    advises = _ADVISES.search(statement.text) or tells_to_do(statement.text, question.text)
    allowed = _ASKS_WHEN_ALLOWED.match(question.text) and advises
    return bool(allowed) and _SAYS_CONDITION.search(statement.text) is not None  # on what condition


def _is_dated(statement: Statement) -> bool:
    """Whether cells are years, or deny that there is a date ("Never")."""
    return any(RECENT_YEAR.fullmatch(cell.strip()) or has_denying_word(cell) for _, cell in statement.cells)


def _defines(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement defines the term: "is", "means" or a bracket follows it closely, or it is in brackets.

    A row of a table that has the term does, too, for a question for what it means ("What does E2 mean?").

    A question about the term alone ("What is a quay?") needs a sentence that begins with it, or that defines it in an
    apposition ("RAPTOR, a retrieval system that").
    """
    if statement.is_of_cells:
        return True
    field = set(words(field_of_term(question.text)))
    term, text = [word for word in subject_terms(question) if word not in field], statement.text
    term_words = set(term)
    places = [match.span() for match in WORD.finditer(text) if term_words.intersection(words(match[0]))]
    if not re.match(r"what(?:'s|\s+is|\s+are|\s+does)\b", question.asked_by, re.IGNORECASE):
        return any(
            text[:start].endswith("(")
            or _DEFINES.search(text[end:] if text[end:].startswith(":") else text[end : end + DEFINED_WITHIN])
            for start, end in places
        )
    by_kind = statement.quote.layout != "title"  # "Peat: A New View" is no entry of a glossary
    return says_what(statement.text, term, by_kind=by_kind, is_name=question.names.issuperset(term))


def _instructs(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement says how to do what is asked; any sentence on the case may answer "What should I do if …?".

    Items of lists are handled in `procedures`, by the heading above them. A table's row answers if its name is the case
    ("Pump does not start") and one of its cells says what to do.
    """
    asks_what = question.asked_by[:4].casefold() == "what"
    if statement.is_of_cells:
        same = (has_denying_word(row.name) == has_denying_word(question.text) for row in statement.rows)
        return asks_what and all(same) and any(tells_to(cell) for _, cell in statement.cells)
    commands = any(map(INSTRUCTION.match, CLAUSES.split(statement.text)))  # "Nobody at home: try a neighbour"
    directs = commands or _ADVISES.search(statement.text) or _SAYS_CONDITION.search(statement.text)
    any_may = directs and asks_what and is_substantive(statement, question)
    return not is_code(statement.text) and (bool(any_may) or instructs(statement, question))


def _answers_yes_or_no(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement says what is so, rather than what somebody wants or argues, unless that is asked."""
    if _ASKS_ADVICE.match(question.text) and not (statement.is_of_cells or _ADVISES.search(statement.text)):
        return False
    if leaves_open(statement.text, question.text):
        return False
    is_hypothetical = _HYPOTHETICAL.search(question.text) is not None
    may = _ASKS_IF_MAY.match(question.text)
    # "It should not hold two" settles whether it may.
    text = _SHOULD.sub(" ", statement.text) if may else statement.text
    if may and may["verb"] and not (statement.is_of_cells or _tells_if_may(statement, may["verb"])):
        return False
    return (is_hypothetical or _HYPOTHETICAL.search(text) is None) and is_substantive(statement, question)


def _tells_if_may(statement: Statement, verb: str) -> bool:
    """Whether a statement says what is possible or allowed, or denied, or has the verb itself: "Can I take it?"."""
    act = frozenset(words(verb, keep_stop_words=True))
    statement_words = frozenset(words(statement.text, keep_stop_words=True))
    has_verb = not act.isdisjoint(with_words_alike(statement_words, act))
    return has_verb or _ADVISES.search(statement.text) is not None or denies(statement.text)


def _compares(statement: Statement, question: QuestionTerms) -> bool:
    """Whether the question's words of comparison occur in the statement, or it was computed from a table."""
    asked_by = re.escape(question.asked_by)
    has_words_of_comparison = re.search(rf"(?<!\w){asked_by}(?!\w)", statement.text, re.IGNORECASE) is not None
    return statement.is_computed or has_words_of_comparison or bool(words_of_limit(statement.text, question.text))


def _names_other_doers(statement: Statement, question: QuestionTerms) -> bool:
    """Whether cells name those who did something else: a "Winner", for "Who ran on 3 May?"."""
    columns = [name for name, cell in statement.cells if PERSON.fullmatch(cell)]
    return ASKS_WHO_DID.match(question.text) is not None and name_other_doers(columns, question.text, question.terms)


def _names_whom(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement names a person, or who does what is asked; `tells_after_preposition` checks for "to whom"."""
    text = statement.text
    return (
        asks_whom(question.text)
        or names_person(statement, question)
        or tells_doer(text, question)
        or tells_who_is(text, question)
    )


_CHECKS: Mapping[AnswerType, Callable[[Statement, QuestionTerms], bool]] = {
    "count": _has_count,
    "amount": _has_amount,
    "percent": _has_percentage,
    "calculation": _compares,
    "look": names_colour,
    "contact": lambda statement, _: CONTACT.search(statement.text) is not None,
    "money": _has_price,
    "date": _has_date,
    "person": _names_whom,
    "place": names_place,
    "yes_or_no": _answers_yes_or_no,
    "reason": tells_reason,
    "definition": _defines,
    "steps": _instructs,
}
