"""Check by rule what a question with a single subject word asks for: "What is the total?", "When is the regatta?".

Any statement may have that word, so a statement answers only if it is directly about what the word names.
"""

import re
from collections.abc import Mapping, Set
from itertools import pairwise

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import ENGLISH_PERMISSION
from quoteweave.core.text.question_analysis import AnswerType
from quoteweave.core.text.question_words import headings_asked_for, listed_words
from quoteweave.core.text.tokens import WORD, name_words, words
from quoteweave.core.text.units import find_unit
from quoteweave.generation.extractive.acts.asked_acts import tells_asked_act
from quoteweave.generation.extractive.acts.clauses import head_nouns
from quoteweave.generation.extractive.acts.doers import names_doer_of_thing
from quoteweave.generation.extractive.acts.instructions import tells_to_do
from quoteweave.generation.extractive.acts.opposites import ASKS_IF
from quoteweave.generation.extractive.acts.prepositions import asks_whom, tells_after_preposition
from quoteweave.generation.extractive.acts.times import SAYS_PAST
from quoteweave.generation.extractive.asked_nouns import lists_all
from quoteweave.generation.extractive.foreign.kinds import words_with_value
from quoteweave.generation.extractive.named.answer_names import (
    asks_colour,
    gives_contact,
    is_of_colour,
    tells_of_single_thing,
    tells_who_may,
)
from quoteweave.generation.extractive.named.places import ASKING_LABEL, is_got_at_thing, says_where
from quoteweave.generation.extractive.named.prices import is_sold_for
from quoteweave.generation.extractive.named.stated_names import asks_name, tells_name
from quoteweave.generation.extractive.statements import Statement, quotes_of
from quoteweave.generation.extractive.tables.implied_by_cells import is_row_asked
from quoteweave.generation.extractive.tables.row_lookup import HAPPENS
from quoteweave.generation.gate.dates import MONTHS, WEEKDAY
from quoteweave.generation.relevance import NUMBER_KINDS, QuestionTerms, words_with_headings
from quoteweave.generation.sentence_kinds import ROUGHLY, says_what
from quoteweave.generation.sentences import run_in_heading

# "What is the budget?" is answered by "The budget is 14,500 euros", though any sentence may have its only word.
# "Is there a discount?" and "How heavy is the router?" name one thing; a text that has it, or its weight, answers them.
_ASKS_WHAT_ONE_IS = lazy_regex(
    r"what(?:'s|\s+(?:is|are|was|were))\s+(?:the|our|my|your)\s+[\w'’-]+\s*\?*", re.IGNORECASE
)
_MAY_ASK_OF_ONE = lazy_regex(r"(?:is|are) there (?:an?|any)\b|how heavy", re.IGNORECASE)
_ASKS_HOW_MANY_THERE_ARE = lazy_regex(r"\W*how\s+many\s+[\w'’-]+\s+(?:are|were)\s+there\W*", re.IGNORECASE)
_THERE_ARE = lazy_regex(
    r"\W*(?:There\s+(?:is|are|was|were)|The\s+number\s+of\s+[\w'’-]+\s+(?:is|was))\s", re.IGNORECASE
)
_TIMES = frozenset(words("hours times days dates period deadline season"))
_GENERAL = _TIMES.union(
    words("specification technical data detail general overview information fact dimension product summary practical")
)
_PLACE = lazy_regex(r"\b(?:to|in|at)\s+(?:the\s+)?[A-ZÀ-Þ][\w'’-]*(?:\s+[A-ZÀ-Þ][\w'’-]*)*")
_CASE = lazy_regex(r"\W*(?:If|When|In\s+case)\s+(?:(?:you|we|I|it|there)\s+)?(?P<case>[^,]{2,40}),", re.IGNORECASE)
_TIME_OF_CASE = lazy_regex(
    r"\s(?:on|at|in)\s+(?:that|this|the)\s+(?:day|morning|afternoon|evening|night)(?=[\s,])", re.IGNORECASE
)
_LABEL = lazy_regex(
    r"\W*(?:(?:The|Its|Our)\s+)?(?P<label>[^:\n]{2,60}?)"
    rf"(?:\s*(?:\([^()]*\)|\d[\d.,]*\s?%)?\s*:\s+\S|\s+(?:is|are|will\s+be)\s+{ROUGHLY}[$€£]?\d)",
    re.IGNORECASE,
)
_ASKS_IF_I_MAY = lazy_regex(
    r"\W*(?:(?:can|may)\s+(?:I|we|you|one)|(?:am|are)\s+(?:I|we|you)\s+(?:allowed|permitted)\s+to)\s+"
    r"(?P<verb>bring|take|have|keep|use)\s+(?P<thing>\S.*)",
    re.IGNORECASE,
)
_ALLOWED = rf"(?:{'|'.join(' '.join(ENGLISH_PERMISSION).split())}|admitted)"
_HAD = r"(?:brought|taken|kept|used)"
_ASKS_IF_IT_MAY = lazy_regex(
    rf"\W*(?:is|are|can|may)\s+(?P<thing>\S.{{0,80}}?)\s+(?:be\s+)?(?P<verb>{_ALLOWED}|(?<=\bbe\s){_HAD})\b",
    re.IGNORECASE,
)
_PERMITS = lazy_regex(
    r"(?P<thing>[^,;:.]{2,80}?)\s+(?:(?:is|are|must|may)\s+(?:not\s+)?(?:also\s+)?(?:be\s+)?"
    rf"(?:{_ALLOWED}(?!\s+to\s+(?!be\s+{_HAD}))|welcome(?!\s+[a-z]))|(?:may|can|(?:may|must|can)\s?not)\s+be\s+{_HAD}"
    r"|(?:must|should|ha(?:s|ve)\s+to|need\s+to)\s+(?:stay|remain|wait|be\s+left)\s+(?:outside|at\s+home)(?=\W*$|[,;.]))\b",
    re.IGNORECASE,
)
_LETS = lazy_regex(
    r"[^,;:.]{2,60}?\s(?:may|can|(?:may|must|can)\s?not)\s+(?:also\s+)?(?:bring|take|have|keep|use)\s+(?P<thing>[^,;:.]+)",
    re.IGNORECASE,
)
_ASKS_OF_IT = lazy_regex(r"\b(?:is|was|does|did|will)\s+it\b", re.IGNORECASE)
_TIME = (
    rf"(?:{WEEKDAY}s?\b|(?:{'|'.join(MONTHS)})\b|(?:the\s+)?\d|noon\b|midday\b|midnight\b|every\b|each\b"
    r"|the\s+(?:first|second|third|fourth|last)\b)"
)
_CLOCK = r"\d{1,2}(?:[.:]\d\d)?(?:\s?[ap]\.?m\.?)?"
# "From 22:00 to 6:00", and "Mondays to Fridays, 9 am - 5 pm"; a single day may be that of anything.
_BEGINS_WITH_HOURS = lazy_regex(
    rf"\W*(?:(?:open|daily|every|day|from|on|between|to|until|and|–|-|{WEEKDAY}s?)[\s,:]+)*+{_CLOCK}\s*(?:to|until|till|and|[–-])\s*{_CLOCK}",
    re.IGNORECASE,
)
# A date, and a time and a place: "25 June 2024, 6 pm, room 12".
_IS_DATE = lazy_regex(
    rf"\W*(?:{WEEKDAY},?\s+)?\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:{'|'.join(MONTHS)})(?:\s+\d{{4}})?(?:,\s+(?:[^,;:.]|(?<=\d)[:.](?=\d)){{1,30}}){{0,3}}"
    r"(?:,\s+(?:as|because)\s[^,;:.]{1,80})?\W*",
    re.IGNORECASE,
)
_AT_OTHER_TIME = lazy_regex(r"\W*(?:after|before|since|until|till|without|instead\s+of)\s", re.IGNORECASE)
_COUNTED = lazy_regex(r"\W*\d[\d.,/]*\s*(?P<unit>[^\W\d_]*)(?P<rest>.*)")
_REST = frozenset(words("quiet silent silence rest closing closed"))
_NO_SUCH_TIME = lazy_regex(r"\b(?:closed?|closes|shut|no|not|except|forbidden|prohibited|interrupted)\b", re.IGNORECASE)
_NOUNS_OF_KINDS: Mapping[AnswerType, frozenset[str]] = {
    "date": frozenset(words("date time")),
    "amount": frozenset(words("amount sum")),
    "money": frozenset(words("amount sum price")),
    "person": frozenset(words("name")),
}
_WHEN_IT_IS = lazy_regex(
    r"\W*(?:(?:the|our|this\s+year['’]s)\s+)?(?:[\w'’-]+\s+)?(?P<what>[\w'’-]+)\s+(?:(?:after|before)\s+[^,;:.]{1,40}?\s)?"
    r"(?:(?:is|are|will\s+be|takes?\s+place|will\s+take\s+place)(?:\s+(?:due|held|open))?"
    r"|(?:runs?|lasts?|(?:is|are)\s+served)\b[^;:.]{0,30}?(?=\sfrom\s))\s+"
    rf"(?:(?:on|at|from|in|between|by)\s+)?{_TIME}",
    re.IGNORECASE,
)


def is_about_single_subject(statement: Statement, question: QuestionTerms, subject: Set[str], context: Context) -> bool:
    """Whether a statement is directly about the single subject word of a question."""
    analysis, text = question.analysis, statement.text
    texts = [quote.text for quote in quotes_of(context, statement.document)]
    return bool(
        (analysis.asks == "place" and (says_where(statement, question) or is_got_at_thing(text, question)))
        or (_ASKS_WHAT_ONE_IS.fullmatch(analysis.text) and says_what(text, tuple(subject)))
        or _MAY_ASK_OF_ONE.match(analysis.asked_by if analysis.asks == "amount" else analysis.text)
        or (asks_colour(analysis) and is_of_colour(statement, subject))
        or names_doer_of_thing(text, question)
        or tells_of_single_thing(statement, question, texts)
        or (analysis.asks == "contact" and gives_contact(text, subject))
        or (asks_name(analysis.text) and tells_name(text, question))
        or is_row_asked(statement, question)
        or tells_asked_act(text, analysis.text, may_deny=analysis.asks == "yes_or_no")
        or tells_to_do(text, analysis.text)
        or tells_who_may(text, question)
        or (asks_whom(analysis.text) and tells_after_preposition(text, question))
        or ((analysis.asks == "steps" or ASKS_IF.match(analysis.text)) and _in_case(text, subject))
        or lists_all(text, analysis.text)
        or (_ASKS_HOW_MANY_THERE_ARE.fullmatch(analysis.text) and _THERE_ARE.match(text))
        or (analysis.asks == "date" and _says_when(text, subject))
        or _announces_occasion(statement, question, subject, context)
        or (analysis.asks != "yes_or_no" and subject and label_of(text, question) == subject)
        or (subject and words_with_value(text, question, texts) == subject)
    )


def _in_case(text: str, subject: Set[str]) -> bool:
    """Whether a text is about a case that is the question's subject: "If you are ill on the day, phone the office"."""
    case = _CASE.match(_TIME_OF_CASE.sub("", text))
    return case is not None and subject == frozenset(words(case["case"]))


def label_of(text: str, question: QuestionTerms | None = None) -> frozenset[str]:
    """The words of a text's label, before its value: "Total: 289.80", "VAT 20 %: 48.30", "The weight is 3 kg".

    Without the noun for the kind of answer asked for, which a question need not have: "due", of "Due date: 3 May". A
    number may be a name ("Part number: 4711"), and none of how many there are.
    """
    label = _LABEL.match(text)
    label_words = frozenset(words(label["label"]) if label else ())
    nouns = _NOUNS_OF_KINDS.get(question.asks, frozenset()) - set(question.terms) if question else frozenset()
    return label_words - nouns or label_words


def heading_of_times(statement: Statement, question: QuestionTerms) -> frozenset[str]:
    """The words of the heading right above a statement that begins with hours, if it says which: "Quiet hours".

    What is closed or forbidden then is so in times of rest alone. A date is that of what the heading names, "Next
    meeting" or "7. Date of next meeting".
    """
    terms = set(question.terms)
    nouns = _NOUNS_OF_KINDS["date"] - terms if question.asks == "date" else frozenset[str]()
    heading = [word for word in words(statement.heading) if word not in nouns and not word.isdecimal()]
    is_asked = question.asks == "date" or (question.asks == "statement" and heading[-1:] == [*question.terms[-1:]])
    is_first = statement.sentence_index == (1 if run_in_heading(statement.quote.text) else 0)
    if not is_first or not is_asked or not heading or SAYS_PAST.search(question.text):
        return frozenset()
    if question.asks == "date" and _IS_DATE.fullmatch(statement.text):
        is_of_other_time = _AT_OTHER_TIME.match(statement.heading)
        return frozenset() if is_of_other_time else frozenset(heading)
    if heading[-1] not in _TIMES:
        return frozenset()
    denied = _NO_SUCH_TIME.search(statement.text) is not None and _REST.isdisjoint(heading)
    has_hours = not denied and _BEGINS_WITH_HOURS.match(statement.text) is not None
    return frozenset(heading) - (_TIMES - terms) if has_hours else frozenset()


def _announces_occasion(statement: Statement, question: QuestionTerms, subject: Set[str], context: Context) -> bool:
    """Whether a line says when or where the occasion that its document announces takes place: "Where: Room 4".

    The document must say both, this once, and name the occasion with the question's noun, and no other occasion unless
    the name of the document or a heading has that noun.
    """
    label, asks = ASKING_LABEL.match(statement.text), question.asks
    if label is None or label.lastgroup != asks:
        return False
    occasions = frozenset(words(" ".join(listed_words("occasions"))))
    nouns = subject & occasions
    if subject - HAPPENS - nouns:
        return False
    if not nouns and not _ASKS_OF_IT.search(question.text):
        return False
    document_quotes = quotes_of(context, statement.document)
    labels = [match.lastgroup for quote in document_quotes for match in ASKING_LABEL.finditer(quote.text)]
    document_words = frozenset[str]().union(*map(words_with_headings, document_quotes))
    name_stems = {
        *name_words(statement.document),
        *words(" ".join(quote.section or "" for quote in document_quotes)),
    }
    is_the_one = nouns <= name_stems or nouns == document_words & occasions
    return labels.count(asks) == 1 and {"date", "place"} <= set(labels) and is_the_one


def dispensable_words(
    statement: Statement, question: QuestionTerms, subject: frozenset[str], context: Context
) -> frozenset[str]:
    """The subject's words that a statement may lack: all those of an occasion; "bring", for what is permitted.

    So "Pets are allowed" tells whether pets may be kept, and "Tenants must not keep pets" whether they are allowed.
    "2 carrots", in a list of ingredients, tells how many one needs, and "It is sold for 9 euros" what a thing costs.
    """
    if _announces_occasion(statement, question, subject, context):
        return subject
    if question.asks == "place" and is_got_at_thing(statement.text, question):
        return subject
    if question.asks == "money" and is_sold_for(statement.text, question):
        return frozenset(words("cost price"))
    if question.asks in NUMBER_KINDS and statement.quote.layout == "list":
        return _acts_of_list(statement, subject, context)
    text = question.text
    if (permission_question := _ASKS_IF_I_MAY.match(text) or _ASKS_IF_IT_MAY.match(text)) is None:
        return frozenset()
    permits = _PERMITS.match(statement.text) or _LETS.match(statement.text)
    of_thing = permits is not None and set(head_nouns(permits["thing"])) & set(head_nouns(permission_question["thing"]))
    return frozenset(words(permission_question["verb"])) if of_thing else frozenset()


def _acts_of_list(statement: Statement, subject: frozenset[str], context: Context) -> frozenset[str]:
    """The verbs that the heading of a list stands for, if a single item has the rest: "need", under "Ingredients".

    The item must begin with a number of the thing itself, and no other item of the document's lists may have the thing.
    """
    above = frozenset(words(statement.quote.section or ""))
    acts_of_headings = (acts for acts, names in headings_asked_for("what") if any(name <= above for name in names))
    acts = subject & frozenset().union(*acts_of_headings)
    quotes = quotes_of(context, statement.document)
    lines = [line for quote in quotes if quote.layout == "list" for line in quote.text.splitlines()]
    items = [line for line in lines if subject - acts <= set(words(line))]
    return acts if len(items) == 1 and _counts(subject - acts, items[0]) else frozenset()


def _counts(thing_words: Set[str], item: str) -> bool:
    """Whether an item of a list begins with a number of a thing: "2 carrots", "600 g carrots", no "1 carrot peeler"."""
    counted = _COUNTED.match(item)
    if counted is None:
        return False
    counted_words = (
        counted["rest"] if counted["unit"] and find_unit(counted["unit"]) else f"{counted['unit']}{counted['rest']}"
    )
    return stands_alone(thing_words, counted_words)


def words_of_heading(heading: str) -> frozenset[str]:
    """The words with which a heading names a thing, without the thing's place: "trip", of "Trip to Osk"."""
    return frozenset(word for word in words(_PLACE.sub("", heading)) if not word.isdecimal()) - _GENERAL


def _says_when(text: str, subject: Set[str]) -> bool:
    """Whether a text begins with the question's subject and says when it is: "The regatta takes place on 21 June"."""
    match = _WHEN_IT_IS.match(text)
    return match is not None and frozenset(words(match["what"])) == subject


def stands_alone(thing_words: Set[str], text: str) -> bool:
    """Whether the words of a thing have only small words beside them: not in "hot water" or "water damage"."""
    words_with_spans = [(set(words(match[0])), match.span()) for match in WORD.finditer(text)]
    for (stems, (_, end)), (next_stems, (start, _)) in pairwise(words_with_spans):
        part = stems and next_stems and thing_words.isdisjoint(stems) != thing_words.isdisjoint(next_stems)
        if part and not text[end:start].strip():
            return False
    return True
