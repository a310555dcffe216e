"""Check by rule whether a statement names the person or place that a question asks for, or is about its subject."""

import re
from collections.abc import Iterable, Iterator, Set
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import CONTACT, QuestionAnalysis
from quoteweave.core.text.question_words import listed_words
from quoteweave.core.text.tokens import name_words, words
from quoteweave.core.text.word_patterns import alternation
from quoteweave.generation.extractive.named.places import BEGINS_CLAUSE, LEADING_ARTICLE, place_pattern
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.relevance import PERIODS, QuestionTerms, says_all, subject_terms
from quoteweave.generation.sentence_kinds import CLAUSES, ROUGHLY, says_what

MAX_NAMES = 3
"""A sentence with more new names than this is a list, and does not answer a question for a name."""

# What looks like a person's name, but has a body's: "Byron Ltd", "Audit Committee", "The Mill".
_COMPANY = lazy_regex(
    r"^The\s|\b(?:Committee|Board|Panel|Office|Cent(?:er|re)|Council|Court|Association|Institute|Group|Team|Act|Inc|LLC|Ltd|Limited|Plc|PLC|Pvt|L\.P|Corp|Corporation|Company|Holdings|Services|University|Department|AG|GmbH)\b"
)
ASKS_WHO_MAY = lazy_regex(r"who\s+(?:can|may|must|should)\s+(?!not\b)(?P<verb>\w+)", re.IGNORECASE)
# "Existing members can only nominate"
_MAY_DO = lazy_regex(
    r"^(?!(?:if|when|to|for)\b)[\w'’ -]{3,60}?\s(?:can|may|must|should)\s+(?:only\s+|also\s+)?(?P<verb>\w+)",
    re.IGNORECASE,
)
# "must be a ", what somebody must be to have a post.
_MUST_BE = r"(?:may|can|must|should|shall|ha(?:s|ve)\s+to)\s+(?:only\s+)?be\s+(?:an?|one|any)\s"
_BEHIND_ARTICLE = lazy_regex(r"\s+(?:(?:the|an?|our|its)\s+)?(\w+)", re.IGNORECASE)
# "We built it", "In spring, she opened it"
_BEGINS_WITH_PRONOUN = lazy_regex(
    r"\W*(?:(?:We|I|You|He|She|They|It|His|Her|Their|Our|My|Wir|Ich|Sie|Er|Nous|Je|Vous|Ils?|Elles?)\s"
    r"|[^,]{0,60},\s+(?:we|I|you|he|she|they|it)\s)"
)
# "Our treasurer is Ada Byron"
_OURS_IS_NAMED = lazy_regex(
    r"\W*(?:His|Her|Their|Our|My)\s[^,;.]{1,60}?\s(?:is|are|was|were)\s+(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+)?[A-ZÀ-Þ]"
)
# "Who is the treasurer?"
_ASKS_WHO_HOLDS = lazy_regex(r"\W*who\s+(?:is|are|was|were)\s+(?:the|our|your)\s", re.IGNORECASE)
PERSON_NAME = lazy_regex(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+(?:[A-Z]\.\s+)*[A-ZÀ-Þ][\w'’-]+"  # "Dr Byron", "Mrs. A. Byron"
    r"|\b(?:[A-ZÀ-Þ][\w'’-]+|[A-Z]\.)(?:\s+(?:[A-Z]\.|van|von|de|del|da|bin|al|[A-ZÀ-Þ][\w'’-]+)){1,4}"  # "Ada van Dyk"
)
# "Who first climbed it?"
ASKS_WHO_DID = lazy_regex(
    r"\W*who\s+(?!(?:is|are|was|were|can|may|must|should|shall|will|would|could|might|has|have|had|does|do|did)\b)"
    r"(?:(?:first|last)\s+(?=\w))?(?P<verb>\w+)",
    re.IGNORECASE,
)
_NUMBER_WORD = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty)\b"
# What goes from a thing straight on to its number, name or place: "lasts", "is limited to", "is sold for", "dauert".
_TELLS = (
    r"is|are|was|were|will\s+be|lasts?|lasted|takes?|took|runs?|measures?|weighs?|weighed|holds?|seats?|carries|accommodates?"
    r"|(?:is|are)\s+(?:valid\s+for|limited\s+to|set\s+(?:at|to))|stands?|lies?|hangs?|sits?|consists?\s+of|compris(?:es|ed)|covers?|covered|spans?|occupies|extends?\s+(?:over|to)"
    r"|(?:is|are)\s+(?:sold|available|offered)\s+(?:\w+ly\s+)?(?:for|at)|(?:has|have)\s+(?:room|space|seats)\s+for|costs?|reaches|(?:amounts?|comes?)\s+to"
)
_TELLS_ABROAD = r"ist|sind|dauert|beträgt|liegt|est|sont|dure|coûte|es|son|dura|está|están"
# What gives a limit instead: "may only be", "must not exceed", "can be longer than".
_LIMITS = (
    r"(?P<may>(?:may|can|must|shall|should)\s+(?:only\s+|not\s+)?"
    r"(?:be(?:\s+(?:longer|higher|larger|heavier|wider|deeper|more)\s+than)?|exceed))"
)
_SAYS_DIRECTLY = lazy_regex(
    r"(?:\s*(?:\([^()]{1,20}\)\s*)?:"  # "VAT (20 %): 498.00 euros"
    r"|,(?=\s\d[\d.,]*\s\w+\s(?:long|high|tall|deep|wide|thick|old)\b)"  # "The slide, 62 metres long, …"
    rf"|\s+(?:{_TELLS}|{_LIMITS}|{_TELLS_ABROAD}))\s+"
    r"(?:(?P<name>[A-ZÀ-Þ])|(?P<place>(?:in|at|near|en|à|bei)\s+(?:the\s+)?[A-ZÀ-Þ])|"
    rf"{ROUGHLY}(?P<number>[$€£]?\d|{_NUMBER_WORD}))"
)
# "A warranty of three years", "the sum of EUR 498"
_OF_NUMBER = lazy_regex(
    rf"(?<!\bfor\s)\b(?:an?|the)\s+([^\W\d_]+)\s+of\s+{ROUGHLY}((?:[$€£]|(?-i:[A-Z]{{3}})\s)?\d[\d.,]*|{_NUMBER_WORD})",
    re.IGNORECASE,
)
# "Two months' notice", "25 days of leave"; not "three months' rent".
_NUMBER_OF = lazy_regex(
    rf"(?<![\w.,])(\d[\d.,]*|{_NUMBER_WORD})\s+(?:hour|day|week|month|year)s?(?:['’]|\s+of)\s+(?:(?:paid|annual)\s+)?"
    r"(notice|leave|holidays?|vacation|warranty|guarantee|probation|training|experience)\b",
    re.IGNORECASE,
)
# What was once so need not be so now.
_WAS = lazy_regex(r"\b(?:was|were|had|did|formerly|previously)\b", re.IGNORECASE)
_HOW_MUCH = lazy_regex(r"how much|wie ?viel|combien", re.IGNORECASE)
_BEGINS_WITH_COSTS = lazy_regex(r"\s+(?:costs|coûte)\b")
# "The mayor, Helen Prosser, presented the budget."
_APPOSED = lazy_regex(
    r",\s+(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+)?[A-ZÀ-Þ][\w'’-]+(?:\s+[A-ZÀ-Þ][\w.'’-]*){1,3}(?:[,;]\s|\W*$)"
)
# "Ada Byron (treasurer)".
_HOLDER_IN_BRACKETS = lazy_regex(
    r"[A-ZÀ-Þ][\w.'’-]*(?:\s+(?:&\s+)?[A-ZÀ-Þ][\w.'’-]*){1,4}\s+\((?:the\s+|our\s+)?([^()]{2,40})\)"
)
# "Ada Byron is the treasurer of the club", "Ada Byron, our treasurer, opened it".
_IS_HOLDER = lazy_regex(
    rf"(?:{PERSON_NAME.pattern})\s+(?P<be>is|was)\s+(?:the|our|its)\s+([^,.;:()]{{2,40}}?)(?=[,.;()]|$|\s+(?:and|of|for|at|in|since)\b)"
)
_HOLDER_APPOSED = lazy_regex(rf"(?:{PERSON_NAME.pattern}),\s+(?:the|our|its)\s+([^,.;:()]{{2,40}}),(?!\s+and\b)")
_MODAL = lazy_regex(r"\b(?:may|can|must|shall|should)\b", re.IGNORECASE)
_DIRECTLY = {"amount": "number", "money": "number", "person": "name", "place": "place"}
_ARTICLE_OR_MARK = lazy_regex(r"\b(?:the|our|your|my)\s|[,;:]\s", re.IGNORECASE)
# The monthly rent is the rent.
_PERIOD = lazy_regex(rf"^(?:{'|'.join(PERIODS)})\s+", re.IGNORECASE)
_OWNED = lazy_regex(r"\w?\w?['’]s?\s+(?:[a-z]\w*\s+)?([a-z]\w+)")


def names_person(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement names one person or a few; one about what "we" did does not, whomever it mentions.

    A name that shares a word with the document's name is rather that of the organisation that it is about.
    """
    if ASKS_WHO_MAY.match(question.text):
        return tells_who_may(statement.text, question)
    if _names_holder(statement.text, question):
        return True
    if _BEGINS_WITH_PRONOUN.match(statement.text) and not _OURS_IS_NAMED.match(statement.text):
        return False
    subject = subject_terms(question)
    if (
        subject and question.names.issuperset(subject) and not _ASKS_WHO_HOLDS.match(question.text)
    ):  # "Who is Ada Byron?" asks for no name
        return says_what(statement.text, subject)
    return 0 < len(new_names(statement, question)) <= MAX_NAMES


def new_names(statement: Statement, question: QuestionTerms) -> list[list[str]]:
    """The names of persons in a statement that neither the question nor the document's name has, as their words.

    The post that is asked for may stand beside the name: "Ada Byron Chief Engineer".
    """
    text, known_words = statement.text, set(question.terms).union(name_words(statement.document))
    post = frozenset(question.terms) - question.names
    names = [
        _without_ends(words(match[0]), post)
        for match in PERSON_NAME.finditer(text)
        if not _COMPANY.search(match[0])
        and not text[: match.start()].endswith((" the ", "The "))  # "the United States"
        and not _owns_another_thing(match[0], text[match.end() :], question)
    ]
    return [name for name in names if len(name) > 1 and not set(name) & known_words]


def _owns_another_thing(name: str, behind: str, question: QuestionTerms) -> bool:
    """Whether a name is that of the owner of a thing that is not asked about: "Saint Olaf's church", for a clock."""
    owned = _OWNED.match(name[-2:] + behind)
    return owned is not None and ASKS_WHO_DID.match(question.text) is not None and owned[1] not in question.text


def _without_ends(name: list[str], post: frozenset[str]) -> list[str]:
    """A name without the words of a post before and behind it."""
    name_positions = [at for at, word in enumerate(name) if word not in post]
    return name[name_positions[0] : name_positions[-1] + 1] if name_positions else []


def tells_of_single_thing(statement: Statement, question: QuestionTerms, texts: Iterable[str]) -> bool:
    """Whether a statement begins with the one thing that a question is about, and goes straight on with what is asked.

    "A warranty of three years" tells it, too, if none of `texts`, which are all that were found, has another number.
    "How long is the warranty?" is answered by "The warranty lasts three years", and "Who are the hosts?" by "Your hosts
    are Ada and Carl Byron".
    """
    group, subject = _DIRECTLY.get(question.asks), question.subject
    if group is None or not subject or statement.is_of_cells:
        return False
    matches = [match for match in _SAYS_DIRECTLY.finditer(statement.text) if match[group]]
    if question.asks == "amount" and not _HOW_MUCH.search(question.asked_by):  # a cost is no size
        matches = [match for match in matches if not _BEGINS_WITH_COSTS.match(match[0])]
    if not _MODAL.search(question.text):
        matches = [match for match in matches if not match["may"]]
    if group == "name" and _names_holder(statement.text, question):
        return True
    if group == "number" and _gives_only_number(statement.text, question, subject, texts):
        return True
    if group == "place":
        matches += place_pattern().finditer(statement.text)
    phrases_before = (BEGINS_CLAUSE.split(statement.text[: match.start()])[-1] for match in matches)
    nouns = [LEADING_ARTICLE.sub("", phrase, count=1) for phrase in phrases_before]
    return any(subject == set(words(variant)) for noun in nouns for variant in (noun, _PERIOD.sub("", noun)))


def asks_colour(analysis: QuestionAnalysis) -> bool:
    """Whether a question asks for a colour, which a text may tell as well as a picture."""
    return analysis.asks == "look" and analysis.asked_by.casefold() in {"color", "colors", "colour", "colours"}


def gives_contact(text: str, subject: Set[str]) -> bool:
    """Whether a line gives a contact for what a question is about: "Emergency line (at night): 07700 900418"."""
    label, _, contact = text.partition(":")
    return subject <= set(words(label)) and CONTACT.match(contact.strip()) is not None


def names_colour(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a clause about what the question is about names a colour that the question does not."""
    question_words, subject = set(question.text.casefold().split()), question.subject
    subject -= {*words(statement.quote.section or ""), *name_words(statement.document)}
    clauses = (clause for clause in CLAUSES.split(statement.text) if subject.intersection(words(clause)))
    colours = {word for clause in clauses for word in re.findall(r"\w+", clause.casefold())} & listed_words("colours")
    return bool(colours - question_words) and not statement.is_of_cells


def _names_holder(text: str, question: QuestionTerms) -> bool:
    """Whether a text has the post asked about beside a name: "Ada Byron (treasurer)", "the treasurer, Ada Byron"."""
    subject, question_words = question.subject, question.text.split()
    before = (_ARTICLE_OR_MARK.split(text[: match.start()])[-1] for match in _APPOSED.finditer(text))
    holders = [*_HOLDER_IN_BRACKETS.finditer(text), *_HOLDER_APPOSED.finditer(text)]
    holders += [match for match in _IS_HOLDER.finditer(text) if match["be"] in question_words]
    posts = [*(match[match.re.groups] for match in holders), *before]
    return bool(subject) and any(set(words(post)) == subject for post in posts)


def is_of_colour(statement: Statement, thing_words: Set[str]) -> bool:
    """Whether a statement begins with a thing and tells its colour, unlike "The box stands on the red shelf"."""
    match = _colour_pattern().match(statement.text)
    return match is not None and set(words(match[1] or match[2])) == thing_words


@cache
def _colour_pattern() -> re.Pattern[str]:
    behind = r"(?=\s*(?:[,.;:)]|$|(?:and|or|with|in|while|when|if)\b))"
    is_so = rf"\s+(?:is|are|was|were)\s+(?:\w+\s+){{0,4}}?{alternation(listed_words('colours'))}{behind}"
    as_attribute = rf"the\s+{alternation(listed_words('colours'))}\s+(\w+)\s+\w+s\b"  # "The blue lamp lights up"
    return re.compile(rf"\W*(?:(?:the|our|its|all)\s+)?(.{{2,60}}?){is_so}|\W*{as_attribute}", re.IGNORECASE)


def _gives_only_number(text: str, question: QuestionTerms, subject: Set[str], texts: Iterable[str]) -> bool:
    """Whether a text gives one number for the thing asked about, as it is now, and no other text gives another."""
    numbers, *other_numbers = (
        {number for noun, number in _numbers_with_nouns(any_text) if says_all(words(noun), subject)}
        for any_text in (text, *texts)
    )
    was = _WAS.search(text) is not None and _WAS.search(question.text) is None
    return len(numbers) == 1 and numbers.issuperset(set().union(*other_numbers)) and not was


def _numbers_with_nouns(text: str) -> Iterator[tuple[str, str]]:
    yield from ((match[1], match[2]) for match in _OF_NUMBER.finditer(text))
    yield from ((match[2], match[1]) for match in _NUMBER_OF.finditer(text))


def tells_who_may(text: str, question: QuestionTerms) -> bool:
    """Whether a question asks who may do something, and a text says it: "Existing members can nominate"."""
    match = ASKS_WHO_MAY.match(question.text)
    return match is not None and _says_who_may(text, match["verb"], question.text)


def _says_who_may(text: str, verb: str, question: str) -> bool:
    """Whether a text says who may do something: "Existing members can nominate", but not "you can nominate"."""
    may_do = _MAY_DO.search(text)
    if not words(verb) and _says_what_it_must_be(text, question):
        return True
    if may_do is None or _BEGINS_WITH_PRONOUN.match(f"{text} "):
        return False
    if not words(verb):  # "who may be the chair" needs "may be the chair"
        behind = _BEHIND_ARTICLE.match(text, may_do.end())
        return (
            may_do["verb"].casefold() == verb.casefold()
            and behind is not None
            and behind[1].casefold() in question.casefold()
        )
    return set(words(verb)) <= set(words(may_do["verb"]))


def _says_what_it_must_be(text: str, question: str) -> bool:
    """Whether a text says what somebody must be to have a post: "The chair must be a member of the staff"."""
    post = _BEHIND_ARTICLE.match(question, question.casefold().find(" be ") + 3)
    if post is None:
        return False
    pattern = rf"\b{re.escape(post[1])}\w*(?:\s+of\s+(?:the\s+)?\w+)?\s+{_MUST_BE}"
    return re.search(pattern, text, re.IGNORECASE) is not None
