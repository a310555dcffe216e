"""Check by rule which numbers and times of a sentence are those of the thing that a question asks about.

"The boat is 300 kg lighter than the old one" does not tell how heavy it is, "The bridge is 200 metres from the station"
does not tell how long it is, and no mere number tells how often something is done. The rules use only the words beside
a number, English ones and some German ones.
"""

import itertools
import re
from decimal import Decimal

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import STOP_WORDS, has_digit, words
from quoteweave.core.text.units import CURRENCIES, dimensions_in
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.amounts import NUMBER_WORDS, Amount
from quoteweave.generation.gate.dates import MONTH_NAMES, WEEKDAY
from quoteweave.generation.gate.facts import Facts, normalize_notation, read_evidence
from quoteweave.generation.relevance import QuestionTerms
from quoteweave.generation.sentence_kinds import FEW, ROUGHLY

# The number of an item of a list: "(2) Doors".
_ITEM = lazy_regex(r"^\s*\(?\d{1,2}[.)]?\s+(?=[A-Z])")
# With what follows: "$30", "12 %", "five square metres", "60 km/h".
_NUMBER = (
    rf"(?<![\w.,])(?:[$€£]\s?)?(?:\d[\d.,]*+|{FEW}\b)"
    r"(?:\s?%|(?:[\s-](?:square|cubic|million|billion))?[\s-]?[^\W\d_]{1,12}(?:/h)?\b)?"
)
_LENGTH = r"(?<![\w.,])\d[\d.,]*+\s?(?:[cmk]?m|mi|ft|yd|(?i:(?:kilo|centi)?met(?:re|er)n?s?|miles?|feet|yards?))\b"
_ABOUT = r"(?:(?:about|only|over|nearly|up\s+to|at\s+least|another)\s+)?"
_COMPARATIVE = (
    r"(?:more|less|fewer|longer|shorter|higher|lower|taller|deeper|wider|narrower|thicker|thinner|heavier|lighter|older"
    r"|younger|faster|slower|cheaper|dearer|larger|bigger|smaller|warmer|colder|nearer|further|farther"
    r"|[^\W\d_]{3,}er(?=\s(?:than|als)\b)|mehr|weniger)"
)
_CHANGE = (  # "rose", "declined", "is under"
    r"(?:rose|rise|rises|risen|fell|falls?|fallen|grew|grows?|grown|(?:increas|decreas|declin|reduc|rais|chang|improv)(?:es?|ed)"
    r"|dropp?(?:s|ed)?|lower(?:s|ed)|climb(?:s|ed)|jump(?:s|ed)|cut|over|under|short)"
)
_ASKS_DIFFERENCE = lazy_regex(
    rf"\b(?:{_COMPARATIVE}|{_CHANGE}|by\s+how|growth|increase|decrease|decline|drop|difference|gain|loss|improvement)\b",
    re.IGNORECASE,
)
_ASKS_CHANGE = lazy_regex(  # "By how much did sales fall?"
    r"(?:by\s+)?how\s+much\s+(?:did|do|does|has|have|will)\b.*\b(?:rise|risen|fall|fallen|grow|grown"
    r"|(?:increas|decreas|declin)ed?|drop(?:ped)?|go\s+(?:up|down)|shrink)\b",
    re.IGNORECASE,
)
_SAYS_CHANGE = lazy_regex(
    rf"\b(?:{_CHANGE}|by|growth|increas\w+|decreas\w+|declin\w+|reduction|drop|difference|gain|loss|up|down|more|less)\b",
    re.IGNORECASE,
)
_DIFFERENCE = lazy_regex(  # "300 kg lighter", "rose again by about 3 %"
    rf"{_NUMBER}\s+{_COMPARATIVE}\b|\b{_CHANGE}\s+(?:[^\W\d_]+\s+){{0,3}}?by\s+{_ABOUT}{_NUMBER}", re.IGNORECASE
)
_DISTANCE = lazy_regex(  # "200 metres from", "3 km north"
    rf"{_LENGTH}\s+(?:away|off|apart|north|south|east|west|from(?!\s+[^\W\d_]+\s+to\b)|above|below|behind|beyond|to\s+the"
    r"|vom|von|entfernt|über|unter)\b",
    re.IGNORECASE,
)
_ASKS_DISTANCE = lazy_regex(r"\b(?:how\s+far|distance|away|from|wie\s+weit|entfernt)\b", re.IGNORECASE)
_DISTANCE_FROM = lazy_regex(
    rf"{_LENGTH}\s+(?:away\s+)?(?:from|off|to)\s+(?:(?:the|an?|our|your)\s+)?(?P<place>[^\W\d_]+)", re.IGNORECASE
)
# The altitude of a village is told as a distance, from the level of the sea.
_ASKS_ALTITUDE = lazy_regex(r"\b(?:how\s+high|altitude|elevation|wie\s+hoch)\b", re.IGNORECASE)
_ABOVE_SEA = lazy_regex(r"\s(?:above|below|über)\s+(?:the\s+|dem\s+)?(?:mean\s+)?(?:sea|meer)", re.IGNORECASE)
_AGE = lazy_regex(rf"{_NUMBER}\s+(?:old|late|ago|of\s+age)\b", re.IGNORECASE)
_ASKS_AGE = lazy_regex(r"\b(?:old|age|late|ago|early|delay\w*)\b", re.IGNORECASE)
_ASKS_DURATION = lazy_regex(
    r"\W*how\s+long\s+(?:is|are|was|were|does|do|did|will)\b(?!.*\b(?:before|after)\b)", re.IGNORECASE
)
# A point in time, which is no duration: "begins three days after the letter", "takes place after 3 weeks".
_POINT_IN_TIME = lazy_regex(
    r"\b(?:begins?|began|starts?|started|ends?|ended|opens?|opened|closes?|closed|due|leaves?|left)\s+"
    rf"(?:\w+\s+)?{_NUMBER}\s+(?:after|before|later)\b|\bplace\s+(?:after|in|within)\s+{_NUMBER}",
    re.IGNORECASE,
)
_ASKS_HOW_MUCH_TIME = lazy_regex(r"\W*how\s+much\s+time\b(?!.*\b(?:before|after)\b)", re.IGNORECASE)
_AFTER = lazy_regex(rf"{_NUMBER}\s+(?:after|before|later)\b", re.IGNORECASE)
_ASKS_WHAT_IT_TAKES = lazy_regex(r"\W*how\s+long\s+(?:does|do|did|will)\b.*\btake\b", re.IGNORECASE)
_TAKES = lazy_regex(r"\b(?:takes?|took)\b", re.IGNORECASE)
_TAKES_TIME = lazy_regex(
    r"\b(?:takes?|took|last(?:s|ed)?)\s+"
    r"(?:(?:about|around|approximately|roughly|only|just|over|nearly|almost|up\s+to|at\s+least|at\s+most"
    r"|between|from|(?:more|less)\s+than|you|us|them|him|her|it|most\s+\w+|the\s+\w+)\s+){0,3}"  # "us about"
    rf"(?:\d|an?\b|half\b|{FEW}\b)",
    re.IGNORECASE,
)
_ASKS_WEIGHT = lazy_regex(r"\b(?:how\s+heavy|weighs?|weight)\b", re.IGNORECASE)
_LOAD = lazy_regex(
    r"\b(?:carr(?:y|ies|ied)|lifts?|lifted|holds?|held|loads?|bears?|pulls?|pulled|supports?|transports?|takes?)\s+"
    rf"(?:[^\W\d_]+\s+){{0,3}}?{_NUMBER}(?:(?!\bweigh|\bheavy)[^;.])*",
    re.IGNORECASE,
)
# Numbers of other things: "in winds of up to 60 km/h", "on slopes of 12 %".
_QUANTITY_OF_OTHERS = lazy_regex(
    rf"\b(?:in|on|with|at|against|from)\s+(?P<others>[^\W\d_]{{3,}}s)\s+of\s+{_ABOUT}{_NUMBER}", re.IGNORECASE
)
_ASKS_PRICE = lazy_regex(r"\W*how\s+much\s+(?:is|are|was|were|(?:does|do|did)\b.*\bcosts?)\b", re.IGNORECASE)
_NO_PRICE = lazy_regex(
    rf"\bin\s+(?:\d+|{FEW})\s+(?:equal\s+)?(?:parts|instal?lments|payments)\s+of\s+{_NUMBER}"  # "in 3 payments of 20"
    rf"|\b(?:within|after|in|for)\s+(?:\d+|{FEW})\s+(?:minute|hour|day|week|month|year)s?\b",  # "within 30 days"
    re.IGNORECASE,
)
# What was paid for an act is not the price of the thing: "The boat was repaired for 900 euros".
_PRICE_OF_ACT = lazy_regex(
    r"\b(?P<act>(?:repair|restor|renovat|mend|clean|insur|paint|servic|overhaul|refurbish)ed)\b[^,;.]*?\sfor\s+"
    + _NUMBER,
    re.IGNORECASE,
)
_ASKS_COST = lazy_regex(r"\W*(?:how\s+much|what)\s+(?:does|do|did)\b.*\bcost\b", re.IGNORECASE)
_FOR = lazy_regex(r"\bfor\s+(?:(?:an?|the|each|every)\s+)?(?P<what>[^\W\d_]{3,})", re.IGNORECASE)
# The number of a whole, of which others are counted: "none of the 30 rooms", "the fourth of 7", "of 300 children few".
_NUMBER_OF_WHOLE = lazy_regex(
    rf"(?P<part>\b(?:\d[\d.,]*|one|{FEW}|none|some|few|half|most|many|not\s+one|any|first|second|\w+th|thirds?|quarters?|per\s?cent)\s+"
    r"|%\s+|(?:^|[,;])\s*)"
    rf"of\s+(?:(?:the|its|our|their|these|those)\s+)?(?:\d[\d.,]*|{FEW})\s+(?=[^\W\d_]{{3,}}s\b|children|people|men\b|women)",
    re.IGNORECASE,
)
_ASKS_WHOLE = lazy_regex(r"\b(?:in\s+all|in\s+total|altogether|(?:are|were)\s+there)\b", re.IGNORECASE)
_ASKS_HOW_MANY_IT_HAS = lazy_regex(r"\bhow\s+many\b.*?\b(?:does|do|did)\b.*\b(?:have|own|employ)\b", re.IGNORECASE)
# "It lost 30 beds" and "It waits because 2 beds broke" do not tell how many it has. ", because …," ends at its comma.
_GAINS = lazy_regex(
    r"\b(?:loses?|lost|cuts?|hir(?:es?|ed)|dismiss(?:es|ed)|add(?:s|ed)?|gain(?:s|ed)?|clos(?:es?|ed)|sells?|sold|rent(?:s|ed)?"
    rf"|buys?|bought|needs?|wants?|lacks?|(?:plans?\s+to|will)\s+(?!have|own|employ)\w+)\s+{_ABOUT}{_NUMBER}"
    r"|(?:^\W*|,\s+)because\s(?!of\b)[^,;.]*|(?<=\w\s)because\s(?!of\b)[^;.]*",
    re.IGNORECASE,
)

_SPAN = r"(?:second|minute|hour|day|night|week|fortnight|month|quarter|season|year|decade|century|centurie)s?"
_TIME_NAME = (
    rf"(?:{_SPAN}|times?|mornings?|afternoons?|evenings?|weekends?|weekdays?|springs?|summers?|autumns?|winters?"
    rf"|{WEEKDAY}s?|{MONTH_NAMES})"
)
# "Once, in 1998", "five times as large" and "twice the size" are no frequencies, nor are days that are excepted.
_FREQUENCY = lazy_regex(
    r"\b(?:(?:every|each)\s+"  # "every second Sunday"
    rf"(?:(?:other|single|second|third|fourth|few|working|business|school|half(?:\s+an)?|\d+|{FEW})[\s-]+)?{_TIME_NAME}"
    rf"|every\s+(?:\d[\d.,]*\s?|{FEW}\s)[^\W\d_]+"  # "every 500 km"
    r"|(?:after|before|at|with)\s+(?:every|each)"
    r"|(?:for|on|in)\s+(?:every|each)\s+(?:use|visit|lesson|trip|run|flight|game|match|meeting|session|shift|voyage|issue)"
    r"|(?<!\bthe )(?<!\bour )(?<!\bits )(?<!\btheir )(?:bi-?|semi-?)?"  # not "the daily news"
    r"(?:hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually)|always|never|only\s+once"
    r"|(?:several|(?:a\s+)?few|many)\s+times\s+(?:an?|per|each|every|\w+ly)"  # "several times a year"
    rf"|once\s+(?:an?|per|every|each|in\s+(?:an?|\d+|{FEW})\s+{_SPAN}|\w+ly)"  # "once in two years"
    rf"|(?:twice|(?:\d+|{FEW})\s+times)(?!\s+(?:as|more|the|this|that|its|their|\w{{2,}}er)\b)"
    r"|\d\s?[x×]\s+(?:an?|per|each|every|\w+ly)"  # "2 x daily"
    rf"|per\s+{_SPAN}|at\s+(?:[\w-]+\s+)?intervals|alternate\s+(?:{_SPAN}|{WEEKDAY}s)"
    rf"|(?<!except on )(?<!except )(?:{WEEKDAY}s|weekdays|(?:at|on|most)\s+weekends)"
    rf"|(?:first|second|third|fourth|last)\s+(?:{WEEKDAY}|(?:working\s+)?day|week)"  # "last Friday of each month"
    r"\s+(?:of|in)\s+(?:the|each|every)\s+(?:week|month|quarter|year))\b",
    re.IGNORECASE,
)
_DAYTIME = (
    r"(?:noon|midday|midnight|dusk|dawn|sunset|sunrise|nightfall|late|early|half\s+past|(?:a\s+)?quarter\s+(?:to|past))"
)
# "Open to 12 at a time", "by 3 May" and "at 12 Mill Lane" tell no time of the day, nor does "until 30 minutes before".
_TIME = (
    rf"(?:\d{{1,2}}(?:[:.]\d\d\b|\s?[ap]\.?m\b)(?!\d)|(?:\d{{1,2}}(?!\d)|(?:one|{FEW})\b)"
    r"(?!\s+(?:\w+s\b|at\s+a\s|(?-i:(?!Mon|Tue|Wed|Thu|Fri|Sat|Sun)[A-ZÀ-Þ])))"
    rf"|{_DAYTIME}\b)"
)
_SPAN_BESIDE = rf"(?:\d+|an?|one|{FEW})\s+{_SPAN}\s+(?:before|after|in\s+advance)\b"
# When something opens does not tell how late it is open.
_ENDS, _STARTS = (
    lazy_regex(
        rf"\b(?:{words_before})(?:\s+(?!until\b|till\b|from\b|between\b)\w+)?\s+{_TIME}"  # "closes at 6 pm"
        rf"|\bbetween\s+{_TIME}|(?:24|all)\s+(?:hours|day)\b"
        rf"|(?<!\d\d)\d\s?(?:[ap]m\s?)?[–-]\s?\d{{1,2}}(?!\d)|\b{_SPAN_BESIDE}",  # "9-17", "two hours before"
        re.IGNORECASE,
    )
    for words_before in (
        r"until|till|to|by|later\s+than|latest|last|clos\w+|shuts?|ends?|leaves?",
        r"from|at|after|before|earlier\s+than|earliest|first|opens?|starts?|begins?",
    )
)
_SIZED = rf"(?:numbers|(?<=[^\Wisu]s )number|employs?|seats?|population\s+(?:is|of))\s+{ROUGHLY}"
_MEMBERS = (
    r"(?:people|persons|pupils|students|members|players|children|employees|inhabitants|residents"
    r"|rooms|beds|seats|spaces)"
)
# How many people there is room for tells how large a hall is.
_ROOM = (
    rf"(?:hold|carr(?:y|ie)|take|accommodate)s?\s+{ROUGHLY}(?:\d[\d,]*|{FEW})\s+"
    r"(?:people|persons|guests|passengers|visitors)\b"
    rf"|(?:room|space|seats)\s+for\s+{ROUGHLY}(?:\d|{FEW}\b)"
)
# "A team of nine" tells a size, but "three plots" and "a fund of 3 trustees" do not.
_SIZE = lazy_regex(
    rf"\b{_SIZED}(?:\d|{FEW}\b)|\b(?:{_ROOM})"  # "employs 30", "holds 40 people"
    rf"|\b(?:has|have|had|compris\w+|consists?\s+of|of)\s+{ROUGHLY}(?:\d[\d,]*|{FEW})\s+{_MEMBERS}\b"  # "has 12 beds"
    rf"|\bof\s+(?:\d[\d,]*|{FEW})(?=\s*(?:[.,;]|$))"
    r"|\d\s?(?:by|x|×)\s?\d|\d\s(?:million|billion|thousand)|[$€£]\s?\d",
    re.IGNORECASE,
)
_TIMES_A_SPAN = lazy_regex(rf"(?:{_FREQUENCY.pattern})(?:\s+(?:an?|per)\s+{_SPAN}\b)?", re.IGNORECASE)
# The number of years that somebody is a potter, or in prison, is not an age.
_YEARS = rf"(?:\d[\d.,]*+|{NUMBER_WORDS})"
_NO_UNIT = r"(?=\W*$|[.,;:)]|\s(?:and|but|or|when|in|on|at|now|today)\b)"
# A mere number is an age only after a person: "The page is 4" and "in London, 45, the road" tell no age.
_NAME = r"(?-i:(?!(?:The|Th[ei]se?|That|It|Its|There|In|At|On|Of|To|From|Near|By|For)\b)[A-ZÀ-Þ][\w’'-]+)"
_PERSON = (
    r"(?:man|woman|boy|girl|child|son|daughter|brother|sister|mother|father|wife|husband|person|student|pupil|patient)"
)
_BECOMES = r"(?:is|was|turn(?:s|ed)|became|reached)"
_BEGUN = r"(?:built|born|founded|established|opened|made|created|erected|constructed|planted|launched|formed)"
_YEARS_OLD = lazy_regex(
    rf"\b{_YEARS}[\s-]+(?:year|month|week|day|hour)s?[\s-]+(?:old|of\s+age)\b"  # "30 years old", "a 3-day-old"
    rf"|\bage[ds]?\b[^.;]{{0,20}}?\b{_YEARS}"
    rf"|\b(?:(?:s?he|I|you|we|they|who)\s+(?:are|were|am|{_BECOMES})|(?:{_NAME}|{_PERSON})\s+{_BECOMES}"
    rf"|(?:must|should|to)\s+be)\s+{ROUGHLY}{_YEARS}{_NO_UNIT}"  # "She turned 30", "must be 18"
    rf"|\b{_BEGUN}\b[^.;]{{0,30}}?\b{_YEARS}\s(?:year|month|week|day)s?\sago\b"  # "built 30 years ago"
    rf"|\b{_YEARS}\s(?:(?:year|month)s?\s)?(?:or|and)\s(?:older|younger|over|above|under)\b"
    rf"|\b(?:over|under|older\s+than|younger\s+than)\s+{_YEARS}(?:{_NO_UNIT}|\s(?:year|month)s?\b|s\b)"
    r"|(?:^|[^\w\s]\s*|(?-i:\b(?!(?:in|at|on|of|to|from|near)\b)[a-zß-ÿ]+)\s+)"
    rf"{_NAME}(?:\s{_NAME})*,\s\d{{1,3}}(?=[,;)])",
    re.IGNORECASE,
)
_DEAR = lazy_regex(r"\b(?:costs?|prices?|paid|pays?)\b", re.IGNORECASE)
_NO_SIZES = frozenset({"time", "months", "nights", "speed", "rotation", "celsius", "fahrenheit", "sound", "frequency"})
_TELLS_HOW = {
    "how old": _YEARS_OLD,
    "how often": _FREQUENCY,
    "how late": _ENDS,
    "how early": _STARTS,
    "how large": _SIZE,
    "how big": _SIZE,
}
_SHARE_OF = lazy_regex(
    r"\b(?:percent(?:age)?|per\s+cent|share|proportion)\s+of\s+(?:(?:all|the)\s+)*(?P<before>(?:[\w.'’-]+\s+){0,2}?)"
    r"(?P<group>[\w'’-]{2,}s|people|men|women|children)\b",
    re.IGNORECASE,
)
# Words that may stand before the group of which a share is told, without making it a part of the group.
_WHOLE_GROUP = frozenset(
    {"u.s.", "u.s", "us", "uk", "american", "americans", "eligible", "surveyed", "interviewed", "total", "overall", ""}
)
_DEGREE = lazy_regex(
    r"\b(?:strongly|somewhat|slightly|partly|very)\s+(?!many\b|few\b|much\b|likely\b)\w+", re.IGNORECASE
)
_PERCENT = lazy_regex(r"%|\bper\s?cent\b", re.IGNORECASE)
_CLAUSES = lazy_regex(r";\s|,\s+(?:and|but|while|whereas|compared|as)\b", re.IGNORECASE)
_TOKEN = lazy_regex(r"[\w.'’-]*[\w'’]|[^\w\s]")
_OF_PART = lazy_regex(r"%\)?\s+of\s+(?P<part>[^\W\d][\w'’-]*)\s+(?P<whole>[\w'’-]{2,}s)\b")
_WORD = lazy_regex(r"[\w'’-]+")
_RELATIVE = lazy_regex(r"(?<![,\s])\s+(?:that|which|who|where)\s+(?:is|are|was|were)\b[^,;.]*", re.IGNORECASE)
_BEFORE_DENIED = lazy_regex(r"\b(?:not(?!\s+only\b)|cannot|\w+n[’']t|no\s+longer)\b[^,;:.]*$", re.IGNORECASE)
_TWO_GROUPS = lazy_regex(r"\b([^\W\d_]{3,})\s+(?:and|or)\s+([^\W\d_]{3,})(?=\s+[^\W\d_]{3,}s\b)")
# "39 additional rooms" are not the rooms that are asked about, nor are "four-in-ten pupils" four.
_FURTHER = lazy_regex(r"(?:\b\d[\d.,]*\s+)?\b(?:additional|further|extra|remaining)\b|\b\w+-in-\w+\b", re.IGNORECASE)


def new_facts(text: str, question: str) -> tuple[Facts, list[Amount]]:
    """The facts of a text, and its numbers that are not in the question."""
    values_in_question: set[Decimal] = {amount.value for amount in read_evidence(question).amounts}
    facts = read_evidence(_ITEM.sub("", text))  # the number of a list item is no amount
    return facts, [amount for amount in facts.amounts if amount.value not in values_in_question and not amount.ordinal]


def new_numbers(statement: Statement, question: QuestionTerms) -> frozenset[Decimal]:
    """The numbers of a statement that are not in the question, except years."""
    return frozenset(amount.value for amount in new_facts(statement.text, question.text)[1] if not amount.year)


def lacks_asked_change(text: str, question: str) -> bool:
    """Whether a question asks how much something changes, while a text says nothing about a change.

    >>> lacks_asked_change("Table 1 lists net sales (2021: 192).", "How much did net sales grow in 2021?")
    True
    """
    return asks_change(question) and _SAYS_CHANGE.search(text) is None


def asks_change(question: str) -> bool:
    """Whether a question asks by how much something changes, in units of it or in percent."""
    return _ASKS_CHANGE.match(question) is not None


def own_amounts(text: str, question: str) -> str:
    """A text without the numbers that, by the words beside them, cannot be what a question asks for.

    >>> own_amounts("The boat is 300 kg lighter than the car.", "How heavy is the boat?")
    'The boat is   than the car.'
    """
    remaining = normalize_notation(text)
    if _ASKS_WHAT_IT_TAKES.match(question) and _TAKES.search(remaining) and not _TAKES_TIME.search(remaining):
        return ""  # "The ferry takes passengers until 30 minutes before it leaves"
    left_out = [
        None if _ASKS_DIFFERENCE.search(question) else _DIFFERENCE,
        None if _ASKS_AGE.search(question) else _AGE,
        _AFTER if _ASKS_HOW_MUCH_TIME.match(question) else None,
        _POINT_IN_TIME if _ASKS_DURATION.match(question) else None,
        _TIMES_A_SPAN if _ASKS_DURATION.match(question) else None,
        _LOAD if _ASKS_WEIGHT.search(question) else None,
        _NO_PRICE if _ASKS_PRICE.match(question) else None,
    ]
    for pattern in filter(None, left_out):
        remaining = pattern.sub(" ", remaining)
    question_words = set(words(question))
    if _ASKS_PRICE.match(question) or _ASKS_COST.match(question):
        remaining = _PRICE_OF_ACT.sub(
            lambda match: " " if question_words.isdisjoint(words(match["act"])) else match[0], remaining
        )
    remaining = _QUANTITY_OF_OTHERS.sub(
        lambda match: " " if question_words.isdisjoint(words(match["others"])) else match[0], remaining
    )
    return _without_prices_of_others(_without_distances(remaining, question), question)


def _without_distances(text: str, question: str) -> str:
    """A text without distances; if one is asked for, without those from places that the question does not name."""
    if _ASKS_DISTANCE.search(question):
        question_words = set(words(question))
        return _DISTANCE_FROM.sub(
            lambda match: " " if question_words.isdisjoint(words(match["place"])) else match[0], text
        )
    return text if _ASKS_ALTITUDE.search(question) and _ABOVE_SEA.search(text) else _DISTANCE.sub(" ", text)


def _without_prices_of_others(text: str, question: str) -> str:
    """A text without the prices of other things before the price that a question asks for.

    "20 euros for noise and more for smoking" does not tell the fine for smoking, so only "for smoking" is kept. If
    prices stand before their things, the text after the previous thing is kept: "and 8 for juniors", of "15 euros for
    adults and 8 for juniors".
    """
    priced_thing = frozenset(words(" ".join(match["what"] for match in _FOR.finditer(question))))
    prices = list(_FOR.finditer(text))
    prices_of_thing = [at for at, match in enumerate(prices) if not priced_thing.isdisjoint(words(match["what"]))]
    if not priced_thing or not prices_of_thing or prices_of_thing[0] == 0:
        return text
    priced_before = has_digit(text[: prices[0].start()])
    return text[prices[prices_of_thing[0] - 1].end() :] if priced_before else text[prices[prices_of_thing[0]].start() :]


def is_share_of_part(text: str, question: str) -> bool:
    """Whether the share in a text is that of a part of the group that a question asks about, or of another group.

    >>> is_share_of_part("85% of Black adults favour it.", "What percentage of adults favour it?")
    True
    """
    asked_share = _SHARE_OF.search(question)
    if asked_share is None:
        return False
    if _DEGREE.search(text) and not _DEGREE.search(question):
        return True  # those who strongly favour it are a part of those who do
    if not {word.casefold() for word in _TOKEN.findall(asked_share["before"])} <= _WHOLE_GROUP:
        return False  # the question names the part
    group = set(words(asked_share["group"]))
    allowed_words = {*_WHOLE_GROUP, *STOP_WORDS, *(word.casefold() for word in _WORD.findall(question))}
    clauses = [clause for clause in _CLAUSES.split(text) if _PERCENT.search(clause)]
    pairs = (pair for clause in clauses for pair in itertools.pairwise(["", *_TOKEN.findall(clause)]))
    of_group = [before for before, word in pairs if group.intersection(words(word))]
    if of_group:
        return all(before.casefold() not in allowed_words and before[:1].isalpha() for before in of_group)
    return any(
        not {share["part"].casefold(), *words(share["part"])} & {*allowed_words, *words(question)}
        and not group & set(words(share["whole"]))
        for clause in clauses
        for share in _OF_PART.finditer(clause)
    )


def own_counts(text: str, question: str) -> str:
    """A text without the number of a whole of which others are counted, and without what is gained or lost.

    >>> own_counts("None of the 30 rooms has a balcony.", "How many rooms have a balcony?")
    'None rooms has a balcony.'
    """
    remaining = normalize_notation(text)
    question_words = set(words(question))
    groups = [
        [bool(question_words & set(words(noun))) for noun in match.groups()]
        for match in _TWO_GROUPS.finditer(remaining)
    ]
    if any(is_first_asked != is_second_asked for is_first_asked, is_second_asked in groups):
        return ""  # "1,138 domestic and foreign stores" does not tell how many domestic ones there are
    remaining = remaining if _FURTHER.search(question) else _FURTHER.sub(" ", remaining)
    if _ASKS_HOW_MANY_IT_HAS.search(question):
        remaining = _GAINS.sub(" ", remaining)
    return remaining if _ASKS_WHOLE.search(question) else _NUMBER_OF_WHOLE.sub(lambda match: match["part"], remaining)


def tells_how(asked_by: str, text: str) -> bool | None:
    """Whether a text tells what "how often" and the like ask for, which no mere number does; None for other questions.

    >>> tells_how("How often", "It is cleaned every Sunday."), tells_how("How large", "It has a garden and 3 doors.")
    (True, False)
    """
    form = _TELLS_HOW.get(asked_by.casefold())
    if form is None:
        return None
    if form is _FREQUENCY:  # "the room that is cleaned every week" is another thing
        text = _RELATIVE.sub(" ", text)
    if form is not _SIZE:  # "It should not be done every week" does not tell how often
        return any(not _BEFORE_DENIED.search(text[: match.start()]) for match in form.finditer(text))
    text = _DISTANCE.sub(" ", text)
    measured = dimensions_in(text) - _NO_SIZES - (CURRENCIES if _DEAR.search(text) else frozenset())  # nor a price
    return bool(measured) or (form.search(text) is not None and not _DEAR.search(text))
