"""Check by rule whether a statement names a person or place, where a question asks for one, and no other thing."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import QuestionAnalysis, with_words_alike, words_alike
from quoteweave.core.text.question_words import colour_words, verbs_of
from quoteweave.core.text.tokens import name_words, words
from quoteweave.core.text.units import dimensions_in
from quoteweave.core.text.word_patterns import alternation
from quoteweave.generation.extractive.statements import Statement, refers_back
from quoteweave.generation.gate.dates import is_of_date
from quoteweave.generation.relevance import QuestionTerms, subject_terms
from quoteweave.generation.sentence_kinds import says_what

MAX_NAMES = 3
"""With more new names than this a sentence is a list, and answers the question for none of them."""
WITHIN_WORDS = 4
"""Words before "located in" among which the name of what is located must be."""

_COMPANY = lazy_regex(
    r"^The\s|\b(?:Committee|Board|Panel|Office|Cent(?:er|re)|Council|Court|Association|Institute|Group|Team|Act|Inc|LLC|Ltd|Limited|Plc|PLC|Pvt|L\.P|Corp|Corporation|Company|Holdings|Services|University|Department|AG|GmbH)\b"
)
_ASKS_WHO_MAY = lazy_regex(r"who\s+(?:can|may|must|should)\s+(?!not\b)(?P<verb>\w+)", re.IGNORECASE)
_MAY_DO = lazy_regex(
    r"^(?!(?:if|when|to|for)\b)[\w'’ -]{3,60}?\s(?:can|may|must|should)\s+(?:only\s+|also\s+)?(?P<verb>\w+)",
    re.IGNORECASE,
)
_NAMELESS = lazy_regex(
    r"\W*(?:(?:We|I|You|He|She|They|It|His|Her|Their|Our|My|Wir|Ich|Sie|Er|Nous|Je|Vous|Ils?|Elles?)\s"
    r"|[^,]{0,60},\s+(?:we|I|you|he|she|they|it)\s)"
)
_PERSON = lazy_regex(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+(?:[A-Z]\.\s+)*[A-ZÀ-Þ][\w'’-]+"
    r"|\b(?:[A-ZÀ-Þ][\w'’-]+|[A-Z]\.)(?:\s+(?:[A-Z]\.|van|von|de|del|da|bin|al|[A-ZÀ-Þ][\w'’-]+)){1,4}"
)
_SITUATED = lazy_regex(
    r"\b(?:located|situated|based|headquartered)\s+(?:in|at|on|near)\s+(?:the\s+)?(?:\w+\s+of\s+)?[A-ZÀ-Þ]"
)
ASKS_WHO_DID = lazy_regex(
    r"\W*who\s+(?!(?:is|are|was|were|can|may|must|should|shall|will|would|could|might|has|have|had|does|do|did)\b)"
    r"(?P<verb>\w+)",
    re.IGNORECASE,
)
# "Founded in 1957 by Ada Byron".
_DONE_BY = lazy_regex(r"\b(?P<verb>\w+)\s+(?:(?:in|on)\s+[\w ]{1,20}?\s+)?by\s+(?=[A-ZÀ-Þ])")
_ROUGHLY = r"(?:(?:about|approximately|around|only|up to|nearly|over|at least|at most)\s+)?"
_NUMBER_WORD = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty)\b"
_SAYS_DIRECTLY = lazy_regex(
    r"\s+(?:is|are|was|were|lasts?|lasted|takes?|took|runs?|measures?|weighs?|weighed|holds?|costs?|reaches"
    r"|ist|sind|dauert|beträgt|liegt|est|sont|dure|coûte|es|son|dura|está|están)\s+"
    r"(?:(?P<name>[A-ZÀ-Þ])|(?P<place>(?:in|at|near|en|à|bei)\s+[A-ZÀ-Þ])|"
    rf"{_ROUGHLY}(?P<number>[$€£]?\d|{_NUMBER_WORD}))"
)
_OF_NUMBER = lazy_regex(
    rf"\b(?:an?|the)\s+([^\W\d_]+)\s+of\s+{_ROUGHLY}((?:[$€£]|(?-i:[A-Z]{{3}})\s)?\d[\d.,]*|{_NUMBER_WORD})",
    re.IGNORECASE,
)
# Who refuses or asks for a warranty of three years has none.
_ONLY_WANTED = lazy_regex(r"\b(?:refus|declin|reject|request|propos|demand|ask(?:s|ed|ing)?\b|want)", re.IGNORECASE)
# What was so before is not what is so.
_WAS = lazy_regex(r"\b(?:was|were|had|did|formerly|previously)\b", re.IGNORECASE)
_HOW_MUCH = lazy_regex(r"how much|wie ?viel|combien", re.IGNORECASE)
_COSTS = lazy_regex(r"\s+(?:costs|coûte)\b")
# "The mayor, Helen Prosser, presented the budget."
_APPOSED = lazy_regex(r",\s+(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+)?[A-ZÀ-Þ][\w'’-]+(?:\s+[A-ZÀ-Þ][\w.'’-]*){1,3},\s")
_DIRECTLY = {"amount": "number", "money": "number", "person": "name", "place": "place"}
_BEGINS_CLAUSE = lazy_regex(r"[,;:]\s|\b(?:and|und|et|y)\s")
_OWNED = lazy_regex(
    r"\W*(?:(?:the|our|your|its|their|my|der|die|das|le|la|les|el|los|las|su|sus|son|sa|ses)\s+|l['’])?", re.IGNORECASE
)
_WHERE = lazy_regex(
    r"\b(?:in|at|near)\s+[A-ZÀ-Þ][^.;]*?\bwhere\s+([^.;,]{1,60}?)\s+(?:is|are|was|were)\s+(?:located|situated|based)"
)
_SITUATED_ALONE = lazy_regex(r"\b(?:located|situated|based|headquartered)\b", re.IGNORECASE)
# The owner in "a copy of Smith's letter" is no place.
_PLACE = lazy_regex(
    r"\b(?:in|at|from|to|near|by|on|into|of|en|à|bei|aus|nach)\s+(?:the\s+)?([A-ZÀ-Þ][\w'’-]+)(?<!['’]s)(?<!s['’])(?![\w'’-])"
)
_ADDRESS = lazy_regex(r"\b(?:at|from|on|under|see)\s+<?(?:https?:\s?//|www\.)\S", re.IGNORECASE)
_MAIL = lazy_regex(r"\b(?:to|at)\s+<?\S+@\S+\.\w", re.IGNORECASE)
_ASKS_WHERE_TO_TURN = lazy_regex(r"where\s+(?:do|can|should|must|may|could|to)\b", re.IGNORECASE)


def names_person(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement names one person or a few; what "we" did tells of nobody, whoever else it names.

    What shares a word with the document's name is rather the organisation that it is about.
    """
    if (asked := _ASKS_WHO_MAY.match(question.analysis.text)) is not None:
        return _says_who_may(statement.text, asked["verb"])
    if names_doer(statement.text, question):
        return True
    if _NAMELESS.match(statement.text):
        return False
    subject = subject_terms(question)
    if subject and question.names.issuperset(subject):  # "Who is Ada Byron?" asks for no name
        return says_what(statement.text, subject)
    return 0 < len(new_names(statement, question)) <= MAX_NAMES


def new_names(statement: Statement, question: QuestionTerms) -> list[list[str]]:
    """The names of persons in a statement that neither the question nor the document's name has, as their words.

    The post that is asked for may stand beside the name: "Ada Byron Chief Engineer".
    """
    text, known = statement.text, set(question.terms).union(name_words(statement.quote.document))
    post = frozenset(question.terms) - question.names
    found = [
        _without_ends(words(match[0]), post)
        for match in _PERSON.finditer(text)
        if not _COMPANY.search(match[0])
        and not text[: match.start()].endswith((" the ", "The "))  # "the United States"
    ]
    return [name for name in found if len(name) > 1 and not set(name) & known]


def _without_ends(name: list[str], post: frozenset[str]) -> list[str]:
    """A name without the words of a post before and behind it."""
    kept = [at for at, word in enumerate(name) if word not in post]
    return name[kept[0] : kept[-1] + 1] if kept else []


def names_doer(text: str, question: QuestionTerms) -> bool:
    """Whether a text says by which person the act was done that a question asks about: "founded by Ada Byron"."""
    asked = ASKS_WHO_DID.match(question.analysis.text)
    verb = frozenset(words(asked["verb"])) if asked else frozenset[str]()
    done = (one for one in _DONE_BY.finditer(text) if verb & with_words_alike(frozenset(words(one["verb"])), verb))
    named = (_PERSON.match(text, one.end()) for one in done)
    return any(name is not None and _COMPANY.search(name[0]) is None for name in named)


def tells_of_one(statement: Statement, question: QuestionTerms, texts: Iterable[str]) -> bool:
    """Whether a statement begins with the one thing that a question is about, and goes straight on with what is asked.

    Or calls it one of so much, "a warranty of three years", where `texts`, all that were found, have no other.
    "How long is the warranty?" is answered by "The warranty lasts three years", "Who are the hosts?" by "Your hosts are
    Ada and Carl Byron".
    """
    group, subject = _DIRECTLY.get(question.analysis.asks), set(subject_terms(question))
    if group is None or not subject or statement.is_row:
        return False
    said = [one for one in _SAYS_DIRECTLY.finditer(statement.text) if one[group]]
    if question.analysis.asks == "amount" and not _HOW_MUCH.search(question.analysis.asked_by):  # dear is not large
        said = [one for one in said if not _COSTS.match(one[0])]
    said += _APPOSED.finditer(statement.text) if group == "name" else ()
    if group == "number" and _is_one_of_number(statement.text, question, subject, texts):
        return True
    before = (_BEGINS_CLAUSE.split(statement.text[: one.start()])[-1] for one in said)
    return any(set(words(_OWNED.sub("", one, count=1))) == subject for one in before)


def is_of_colour(statement: Statement, thing: Set[str]) -> bool:
    """Whether a statement begins with a thing and says of what colour it is: not that it stands on the red shelf."""
    found = _of_colour().match(statement.text)
    return found is not None and set(words(found[1])) == thing


@cache
def _of_colour() -> re.Pattern[str]:
    behind = r"(?=\s*(?:[,.;:)]|$|(?:and|or|with|in|while|when|if)\b))"
    is_so = rf"\s+(?:is|are|was|were)\s+(?:\w+\s+){{0,4}}?{alternation(colour_words())}{behind}"
    return re.compile(rf"\W*(?:(?:the|our|its|all)\s+)?(.{{2,60}}?){is_so}", re.IGNORECASE)


def _is_one_of_number(text: str, question: QuestionTerms, subject: Set[str], texts: Iterable[str]) -> bool:
    """Whether a text calls what a question asks of one of so much, as it is now, and no text of another number."""
    own, *others = (
        {one[2] for one in _OF_NUMBER.finditer(each) if set(words(one[1])) == subject} for each in (text, *texts)
    )
    was = _WAS.search(text) is not None and _WAS.search(question.analysis.text) is None
    return len(own) == 1 and own.issuperset(set().union(*others)) and not (was or _ONLY_WANTED.search(text))


def _says_who_may(text: str, verb: str) -> bool:
    """Whether a text says who may do something: "Existing members can nominate", but not "you can nominate"."""
    found = _MAY_DO.search(text)
    return found is not None and set(words(verb)) <= set(words(found["verb"])) and not _NAMELESS.match(f"{text} ")


def names_place(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement names a place or a web address; where one turns to, an e-mail address will do."""
    if _SITUATED_ALONE.search(question.analysis.text):
        return says_where(statement, question)
    if _ASKS_WHERE_TO_TURN.match(question.analysis.text) and _MAIL.search(statement.text):
        return True
    found = (match[1] for match in _PLACE.finditer(statement.text) if not match[1].isupper())
    return _ADDRESS.search(statement.text) is not None or any(
        not set(words(name)) & set(question.terms) for name in found
    )


def says_where(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement says that what the question is about is located in a place, close after its name."""
    asked, text = set(subject_terms(question)), statement.text
    before = [" ".join(text[: match.start()].split()[-WITHIN_WORDS:]) for match in _SITUATED.finditer(text)]
    return any(asked.intersection(words(name)) for name in [*before, *_WHERE.findall(text)])


MAX_BETWEEN = 3
"""Most words between a name and its number: "Debian, the version 8"."""

_WHICH = lazy_regex(r"\s*(?:which|what)\s+(\w+?)s?\s", re.IGNORECASE)
_THING = lazy_regex(
    r"\W*what (?:is|was|are|were) (?:the |its |their )?(?:\w+ )?([^\W\d_]{3,})(?: in\b| for\b|\?|$)", re.I
)
# The amount of a thing is the thing.
_SAME = frozenset({"amount", "total", "sum", "level", "value", "number", "kind", "type", "name", "all", "most", "some"})
_NUMBER_KINDS = frozenset({"percent", "count", "amount", "money"})
_OF_ONE_KINDS = _NUMBER_KINDS | {"date", "yes_or_no"}
# What stands between a possessive at the beginning and the verb, or a comma.
_BELONGING = lazy_regex(
    r"\W*(?:Its|Their|His|Her|Seine?|Ihre?|Son|Sa|Ses|Leurs?)\s+([^\W\d][\w'’-]*(?:\s+[^\W\d][\w'’-]*){0,2}?)"
    r"(?:,|\s+(?:is|are|was|were|has|have|had|can|may|must|will|costs?|opens?|ist|sind|war|waren|hat|haben|est|sont|a|ont)\b)"
)
# What is owned is another thing where it has a name ("Its sister house, the Lodge"), or by what it is called. Its doors
# and its season are the thing itself.
_APPOSED_NAME = lazy_regex(r",\s+(?:(?:the|der|die|das|den|le|la|les)\s+)?[A-ZÀ-Þ]")
_OTHER_THING = lazy_regex(
    r"\s[A-ZÀ-Þ]|(?i:\b(?:sister|daughter|mother|parent|twin|partner|neighbou?r(?:ing)?|subsidiary|predecessor|successor|rival"
    r"|restaurant|bar|caf[eé]|shop|pool|spa|museum|branch|annexe?|(?:Schwester|Tochter|Mutter|Partner|Nachbar)\w*|Filiale)\b)"
)
_NO_RATE_KINDS = frozenset({"reason", "money", "statement"})
_THING_IN = lazy_regex(r"([a-zß-ÿ]{3,})\s+in\s+(?:the\s+)?([A-ZÀ-Þ][\w-]+)")
# What tells how high, thick, wide, deep or long a thing is: "30 cm thick", "a thickness of 30 cm".
_EXTENTS = (
    ("high", "tall", "height", "hoch", "höhe"),
    ("thick", "thickness", "dick", "dicke"),
    ("wide", "broad", "width", "breadth", "breit", "breite"),
    ("deep", "depth", "tief", "tiefe"),
    ("long", "length", "lang", "länge"),
)
_EXTENT_OF = {word: extent[0] for extent in _EXTENTS for word in extent}
_EXTENT = rf"({'|'.join(_EXTENT_OF)})"
_MEASURED = lazy_regex(
    rf"\d[\s-]?[^\W\d_]{{1,12}}[\s-]+{_EXTENT}\b|\b{_EXTENT}\s*(?::|of|is|was|von|ist|war|beträgt)\s*\d", re.IGNORECASE
)
_HOW_LONG = lazy_regex(rf"\b(?:how|wie)\s+{_EXTENT}\b|\b(?:what|which|was)\b.*?\b{_EXTENT}\b", re.IGNORECASE)
_RATE = lazy_regex(r"\b(\w+)\s+(?:rates?|ratios?|margins?|percentages?|index)\b", re.IGNORECASE)
_RATE_WORD = lazy_regex(r"\b(?:rates?|ratios?|margins?|percentages?|index|percent|share)\b|%", re.IGNORECASE)
_PART = lazy_regex(
    r"\b(?!Operating|Reportable|Each|All|Total)[A-Z]\w+ (?:Segment|Division|Region|Subsidiary)\b(?! [A-Z])"
)
_COST = "cost"
_COSTS_MONEY = lazy_regex(
    r"([\w'’-]+)\s+(?:(?:must|may|can|should|will|would|could)\s+(?:not\s+)?)?costs?\b", re.IGNORECASE
)
_FIRST = lazy_regex(r"\b(first|second|third|last|only|oldest|newest|largest|smallest)\s+(\w+)", re.IGNORECASE)
_IN_NAME = r"\s+(?:\w+\s+)?in\s+(?:the\s+)?([A-ZÀ-Þ]\w+)"
# "Lines 1, 2 and " before 6.
_OTHER_NUMBERS = r"(?:\d++(?:\.\d++)*+\W++(?:(?:and|or|to|und|oder|bis|et|ou|y|o|e)\W++)?+)*"
_NUMBERED = lazy_regex(
    r"(?<=\s)(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))([A-ZÀ-Þ]\w+)\s+(?!(?:19|20)\d\d\b)(\d+(?:\.\d+)*)(?!\w)"
)


def tells_another(statement: Statement, question: QuestionAnalysis, terms: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether a statement is about another of several, or does not say which; `texts` are all that were found.

    "Which file has the licence?" is not answered by "This file has it", and "Debian 8" is not "Debian Day, from 8 to
    14 July". "The first DebConf in Asia was held in Hsinchu" does not tell where the first one was, if a text tells of
    that one, too. "The cost of revenue" is not the revenue.
    """
    asked, text = question.text, statement.text
    if _tells_of_its_property(asked, text) or _is_of_a_part(statement, terms):
        return True
    if _is_of_what_is_before(statement, question, terms) or _is_of_its_own(statement, question, terms):
        return True
    of_rate = question.asks in _NO_RATE_KINDS and _tells_of_its_rate(asked, text, terms)
    if of_rate or _is_measured_otherwise(asked, text) or _is_in_another_place(asked, text):
        return True
    which = _WHICH.match(asked)
    if which is not None and re.match(rf"\W*(?:This|These|Such) {which[1]}s?\b(?!\s*[,(:–—])", text):
        return True
    numbered = () if statement.is_row else _NUMBERED.findall(asked)
    if any(_is_number_of_another(name, number, text) for name, number in numbered):
        return True
    is_place = question.asks == "place"
    return any(_is_one_of_a_place(first, text, terms, texts, is_place=is_place) for first in _FIRST.findall(asked))


def _is_of_what_is_before(statement: Statement, question: QuestionAnalysis, terms: Sequence[str]) -> bool:
    """Whether "It" stands for another thing than is asked for, as the sentence before it has no noun of the question.

    "It cost 480,000 euros and replaces the vehicle of 2001" does not tell what the vehicle of 2001 cost.
    """
    if question.asks not in _NUMBER_KINDS or not refers_back(statement.text):
        return False
    named = set(terms) - verbs_of(question.text)
    nouns = {word for word in named if not is_of_date(word)}
    if len(named) < 2 or not nouns:
        return False
    return nouns.isdisjoint(with_words_alike(frozenset(words(statement.before)), nouns))


def _is_of_its_own(statement: Statement, question: QuestionAnalysis, terms: Sequence[str]) -> bool:
    """Whether it is about another thing, which belongs to what is asked for: "Its sister house is closed in May"."""
    owned = _BELONGING.match(statement.text) if question.asks in _OF_ONE_KINDS else None
    if owned is None or not (_OTHER_THING.search(owned[1]) or _APPOSED_NAME.match(statement.text, owned.end(1))):
        return False
    own = frozenset(words(owned[1]))
    return bool(own) and own.isdisjoint(with_words_alike(frozenset(terms), own))


def _is_measured_otherwise(asked: str, text: str) -> bool:
    """Whether a text tells how thick a thing is, say, and not how high, which a question asks for.

    How long a thing takes may be told beside how deep it is.
    """
    wanted = {_EXTENT_OF[word.casefold()] for found in _HOW_LONG.findall(asked) for word in found if word}
    wanted -= {"long"} if "time" in dimensions_in(text) else set()
    told = {_EXTENT_OF[word.casefold()] for found in _MEASURED.findall(text) for word in found if word}
    return bool(wanted and told) and wanted.isdisjoint(told)


def _is_in_another_place(asked: str, text: str) -> bool:
    """Whether a text tells of a thing in other places than the question names: of "the plant in Skaw" alone."""
    for thing, place in _THING_IN.findall(asked):
        named, about = words(place), words(thing)
        if not named or not about or is_of_date(named[0]) or not set(named).isdisjoint(words(text)):
            continue
        others = [words(other) for told, other in _THING_IN.findall(text) if words(told) == about]
        if any(other and not is_of_date(other[0]) for other in others):
            return True
    return False


def _tells_of_its_property(asked: str, text: str) -> bool:
    """Whether a text tells only of a property of what a question asks for: of the cost of revenue, not of revenue."""
    thing = _THING.match(asked)
    if thing is None:
        return False
    before = r"\b([^\W\d_]+)\s+of\s+(?:the\s+|our\s+)?(?:\w+\s+)?"
    properties = re.findall(rf"(?:{before})?\b{thing[1]}\b", text, re.IGNORECASE)
    said = {*asked.casefold().split(), *_SAME, ""}
    return bool(properties) and not any(each.casefold() in said for each in properties)


def _tells_of_its_rate(asked: str, text: str, terms: Sequence[str]) -> bool:
    """Whether a text tells only of the rate of what a question asks for: of the gross profit rate, not of the profit.

    Interest is said by its rate.
    """
    if _RATE_WORD.search(asked):
        return False
    rated = Counter(word for match in _RATE.finditer(text) for word in words(match[1]))
    said = Counter(words(text))
    return any(word in terms and word != "interest" and said[word] == times for word, times in rated.items())


def _is_of_a_part(statement: Statement, terms: Sequence[str]) -> bool:
    """Whether a statement is headed by the name of a part ("International Segment") that a question does not name."""
    quote = statement.quote
    named = _PART.search(f"{quote.caption or ''}\n{quote.section or ''}")
    return named is not None and set(words(named[0])).isdisjoint(terms)


def _is_number_of_another(name: str, number: str, text: str) -> bool:
    """Whether a text has the name and the number, but apart: "from 8 to 14 July, with a Debian Day"."""
    digits = rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)"
    if re.search(rf"\b{name}\b", text) is None or re.search(digits, text) is None:
        return False
    after = rf"\b{name}s?\W+(?:{_OTHER_NUMBERS}|(?:\w+\W+){{0,{MAX_BETWEEN}}}?){digits}"
    before = rf"{digits}\W+(?:of|von|de|du|del)\W+(?:\w+\W+)?{name}\b"
    called = rf"\b(?:version|release|edition|number|no\.?|issue|v\.?)\s*{digits}"
    return re.search(rf"{after}|{before}|(?i:{called})", text) is None


def _is_one_of_a_place(
    asked: tuple[str, str], text: str, terms: Sequence[str], texts: Iterable[str], *, is_place: bool
) -> bool:
    """Whether a text tells of the first in one place, which the question does not name, and others of the first.

    A sentence that tells of it has all words of the question. Where a place is asked for, "the first DebConf in
    Bordeaux" may be all that says it.
    """
    first = rf"\b(?i:{asked[0]}\s+{re.escape(asked[1])})\b"
    found = re.search(first + _IN_NAME, text)
    if found is None or not set(words(found[1])).isdisjoint(terms) or (is_place and " in " not in text[found.end() :]):
        return False
    told = re.compile(rf"[^.!?]*{first}(?!{_IN_NAME})[^.!?]*")
    return any(set(terms).issubset(words(sentence)) for other in texts for sentence in told.findall(other))


def costs_another(statement: Statement, subject: Collection[str], known: frozenset[str]) -> bool:
    """Whether a statement says what another thing costs than the one that the whole document is about.

    "How much does the kiln cost?" is not answered by "Spare elements cost 84 euros" of the manual of the kiln.
    """
    found = _COSTS_MONEY.search(statement.text)
    if found is None or not set(subject) - words_alike(_COST) - {_COST} <= known:
        return False
    named = words(found[1])
    return bool(named) and set(named).isdisjoint(known.union(subject))
