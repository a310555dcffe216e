"""Answer a question that the document itself asks, by the text under that heading, as in a list of frequent questions.

A heading, or a line that ends with a question mark, asks the question if both ask for the same kind of answer about the
same things; it may lack words that the document's name or title has, or the text under the heading. A heading that is
the very noun asked for ("Languages", for "Which languages does she speak?"), or stands for the question ("Ingredients",
for "What do I need?"), is answered by the list or phrase under it, if only one document has such a heading. What a
thing does or is for is answered by the sentences under the heading that is its name, or under the description in a
document of that title.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import BODY_LAYOUTS, Quote
from quoteweave.core.text.question_analysis import (
    MAX_ANALYSED_CHARACTERS,
    analyse_question,
    interrogative_words,
    request_words,
    with_words_alike,
)
from quoteweave.core.text.question_words import asked_thing, describes_thing, headings_asked_for, light_words
from quoteweave.core.text.tokens import name_words, words
from quoteweave.generation.extractive.acts.another_thing import lacks_option
from quoteweave.generation.extractive.acts.instructions import ASKS_HOW_TO
from quoteweave.generation.extractive.acts.opposites import has_opposite_word
from quoteweave.generation.extractive.answer_kinds import has_answer_kind
from quoteweave.generation.extractive.asked_nouns import is_entry
from quoteweave.generation.extractive.composition import number_shown
from quoteweave.generation.extractive.statements import (
    Statement,
    head_line,
    position_in_document,
    refers_back,
    title_words,
)
from quoteweave.generation.relevance import QuestionTerms, question_terms, says_all, words_with_headings
from quoteweave.generation.sentence_kinds import INSTRUCTION, has_denying_word, may_be_asking_heading, tells_to

Part = TypeVar("Part")
MAX_STATEMENTS = 3
"""The most sentences that are shown from the text under a heading."""
MAX_BEFORE = 2
"""The most words of a sentence before the thing that it is about."""
# "7.12 How do I …?" and "Q3: How do I …?" ask "How do I …?".
_NUMBER = lazy_regex(r"\s*(?:(?:Q(?:uestion)?\s?)?\d{1,3}(?:\.\d{1,3})*[.:)]?|Q[.:])\s+(?=[^\W\d_])", re.IGNORECASE)
_ASKS_IN_CASE = lazy_regex(
    r"\W*(?:what\s+(?:should|must|can|could|do)\s+(?:I|you|we|one)\s+(?:have\s+to\s+)?do(?:\s+(?:if|when)|(?=\s+(?:before|after|during)\b))"
    r"|why(?:\s+(?:is|are|does|do))?)\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_BEFORE_OR_AFTER = lazy_regex(r"(?:before|after|during)\b", re.IGNORECASE)
# "Ida sold it because it is old" gives a reason for something else.
_ABOUT_CASE = lazy_regex(
    r"\W*(?:It|They|This|That|These|Those|Because|Due|Owing|(?:The|A|One)\s+(?:\w+\s+)?(?:reason|cause))\b"
)
MAX_SMALL_WORD = 4
"""The most characters of a word that titles write small among capitalized words."""
MIN_CASE = 2
"""The least number of words with which a heading names a case."""
_THE_THING = lazy_regex(
    r"\b(?:the|my|this|your|our)\s+(machine|device|appliance|product|program(?:me)?|app(?:lication)?|software|unit|system|tool"
    r"|instrument|equipment)\W*$",
    re.IGNORECASE,
)
_ANY_THING = lazy_regex(r"device|appliance|product|unit|equipment", re.IGNORECASE)
_TROUBLE = lazy_regex(r"\b(?:problems?|troubleshooting|errors?|cannot|can[’']t|unable|fails?|if)\b", re.IGNORECASE)
_OF_NAME = lazy_regex(r"\s(?:in|on|for|with|from|under)\s+([A-ZÀ-Þ][\w.+#-]*)")
_PARTICLE = lazy_regex(r"\b(?:no(?!\.?\s*\d)|not|never|before|after|without|off|out|away|ohne|nicht)\b")
_PURPOSE = lazy_regex(r"\b(?:to|for|so\s+that)\b")
_MAKES = frozenset({"make", "find"})
_ASKS_ACT = lazy_regex(r"\bto\s+(?:do|happen)\b", re.IGNORECASE)
_ASKS_WHAT_OR_WHERE = lazy_regex(
    r"\W*(?:(?P<what>what)\s+(?:do|must|should|shall|will)\s+(?:I|we|you)\b"
    r"|where\s+(?:do|does|did|has|have|was|were)\s+(?!(?:it|this|that|the|an?|I|we|you)\b))",
    re.IGNORECASE,
)
_ASKS_NOUN = lazy_regex(
    r"\s*(?:which|what)\s+((?:[\w-]+\s+){1,3}?)(?P<by>do|does|did|is|are|has|have|can|could|was|were|will|should)\b",
    re.IGNORECASE,
)


def headed_statements(
    statements: Sequence[Statement], question: QuestionTerms, context: Context
) -> list[list[Statement]]:
    """Return the sentences under the heading that asks the question, in order; none where no heading does.

    Of several documents that ask it, each has a list of its own, unless it repeats another's. The first
    `MAX_STATEMENTS` are to be shown. `statements` are those of the text quotes of the context.
    """
    if not question.terms or question.asks == "definition":  # a definition has a form of its own
        return []
    thing_words = asked_thing(question.text)
    asking, naming, describing = list[list[Statement]](), list[list[Statement]](), list[list[Statement]]()
    for (document, heading), section in _by_heading(statements, question, context).items():
        known_words = frozenset(name_words(document)) | title_words(context, document)
        section_words = frozenset(word for statement in section for word in statement.words)
        under = [statement for statement in section if not _is_heading_itself(statement, heading)]
        asks = under and _asks_same(heading, question, known_words, section_words)
        if asks or (under and _is_case_asked(heading, question, under)):
            asking.append(under)
        elif under and _is_noun_asked(heading, question, known_words, under):
            naming.append(under)
        elif describes_thing(heading, thing_words, known_words):
            describing.append([statement for statement in under if _describes(statement, heading)])
    keyed = ((section[0].document, tuple(statement.text for statement in section), section) for section in asking)
    best = of_each_document(keyed) or (naming if len(naming) == 1 else list(filter(None, describing))[:1])
    return [sorted(section, key=_position_of_statement) for section in best]


def _by_heading(
    statements: Sequence[Statement], question: QuestionTerms, context: Context
) -> dict[tuple[str, str], list[Statement]]:
    """The sentences of texts under each heading that may answer a question, by document and heading."""
    sections: dict[tuple[str, str], list[Statement]] = {}
    for statement in statements:
        if statement.quote.kind == "text" and statement.quote.layout in BODY_LAYOUTS and not statement.is_denied:
            for heading in _headings_of(statement, context):
                if not lacks_option(question.text, heading, statement.document):
                    sections.setdefault((statement.document, heading), []).append(statement)
    return sections


def _asks_same(heading: str, question: QuestionTerms, known_words: frozenset[str], words_below: frozenset[str]) -> bool:
    """Whether a heading asks the same as the question.

    `known_words` are those of its document's name and title, `words_below` those of the text under it.
    """
    text = _without_number(heading)
    if not may_be_asking_heading(text) or has_opposite_word(question.text, text):
        return False
    if analyse_question(text).asks != question.asks:
        return False
    if has_denying_word(text) != has_denying_word(question.text):
        return False
    subject, subject_of_heading = question.subject, question_terms(text).subject
    shared = subject_of_heading & with_words_alike(subject_of_heading & subject, subject_of_heading)
    if not shared - known_words or not says_all(subject, subject_of_heading - known_words):
        return False
    missing_words = subject - with_words_alike(subject_of_heading, subject) - known_words
    return says_all(words_below, missing_words)


def _without_number(heading: str) -> str:
    number = _NUMBER.match(heading)
    return heading[number.end() if number else 0 :].strip()


def _is_heading_itself(statement: Statement, heading: str) -> bool:
    return statement.text.removeprefix("- ") == heading or statement.quote.text.strip() == heading


def _position_of_statement(statement: Statement) -> tuple[int, int, int]:
    """A statement's position in its document: page, ordinal of the quote on it, and index of the sentence."""
    return *position_in_document(statement.quote), statement.sentence_index


def first_statements(sections: Sequence[Sequence[Statement]]) -> tuple[list[Statement], bool]:
    """Return the first statements of each section, or a list, as far as there is room, and whether one has more."""
    shown, size = list[Statement](), 0
    for section in sections:
        texts = [statement.text for statement in section]
        is_list = all(statement.quote.layout == "list" for statement in section)
        most = number_shown(texts, size, complete=is_list) if shown or is_list else MAX_STATEMENTS
        begun = section[: most if is_list else min(most, MAX_STATEMENTS)]
        shown += begun
        size += sum(len(statement.text.split()) for statement in begun)
    return shown, len(shown) < sum(map(len, sections))


def of_each_document(parts: Iterable[tuple[str, Hashable, Part]]) -> list[Part]:
    """The first part of each document, except those that repeat another's text; each with its document and text."""
    first_parts, texts = dict[str, Part](), set[Hashable]()
    for document, text, part in parts:
        if text not in texts:
            first_parts.setdefault(document, part)
        texts.add(text)
    return list(first_parts.values())


def words_of_manual(document: str, heading: str, question: QuestionTerms, context: Context) -> set[str]:
    """The words of a question that a document, by its name, says about all its sections.

    The word of "the machine" or the like is one, too, under a heading with only words of the question, if no other
    document was found and this one has the word; a word for anything, such as "device", need not be in it.
    """
    words_of_name, thing_match = set(name_words(document)), _THE_THING.search(question.text)
    words_of_heading = set(words(heading))
    is_only_document = all(hit.quote.document == document for hit in context.hits)
    if (
        thing_match is None
        or not is_only_document
        or not {word for word in words_of_heading if not word.isdecimal()} <= set(question.terms)
    ):
        return words_of_name
    words_of_thing = set(words(thing_match[1]))
    has_thing = _ANY_THING.fullmatch(thing_match[1]) or any(
        words_of_thing <= words_with_headings(hit.quote) for hit in context.hits
    )
    return words_of_name | words_of_thing if has_thing else words_of_name


def _is_case_asked(heading: str, question: QuestionTerms, under: Sequence[Statement]) -> bool:
    """Whether a heading is the very case for which a question asks what to do, or why it is so: "Import is slow".

    The text under it must say what to do, or that the case itself has a reason.
    """
    case_question, text = _ASKS_IN_CASE.match(question.text), _without_number(heading)
    case = case_question[1] if case_question else ""
    time_of_case, time_of_heading = (
        match and match[0].casefold() for match in map(_BEFORE_OR_AFTER.match, (case, text))
    )
    least = MIN_CASE if time_of_case is None else 1
    if len(words(case)) < least or set(words(case)) != set(words(text)) or time_of_case != time_of_heading:
        return False
    if has_denying_word(text) != has_denying_word(case):
        return False
    if question.asks == "reason":
        about = (statement for statement in under if _ABOUT_CASE.match(statement.text) or tells_to(statement.text))
        return any(has_answer_kind(statement, question) for statement in about)
    return any(tells_to(statement.text) for statement in under)


def _headings_of(statement: Statement, context: Context) -> list[str]:
    """The heading above a statement, and the questions in the text that are answered by its quote."""
    quote = statement.quote
    asking = [hit.quote.text.strip() for hit in context.texts if quote.id in context.introduced.get(hit.quote.id, ())]
    return [" ".join(text.split()) for text in dict.fromkeys([quote.section or "", *asking]) if text.strip()]


def _is_noun_asked(
    heading: str, question: QuestionTerms, known_words: frozenset[str], under: Sequence[Statement]
) -> bool:
    """Whether a heading is the noun asked for, with a list, or a phrase that is no whole sentence, under it."""
    ends = (".", "!", "?", ":")
    listed = all(statement.quote.layout == "list" or not statement.text.endswith(ends) for statement in under)
    if listed and _stands_for_question(heading, question, known_words):
        return True
    noun_question = _ASKS_NOUN.match(question.text[:MAX_ANALYSED_CHARACTERS])
    if noun_question is None:
        return False
    noun = frozenset(words(noun_question[1]))
    if not noun or noun != frozenset(words(heading)) or question.asks != "statement":
        return False
    other_words = frozenset(question.terms) - noun - known_words - light_words(question.text) - interrogative_words()
    # "Which languages does she speak?" is answered by "Languages", and "Which languages are forbidden?" is not.
    verbs = 1 if noun_question["by"].casefold() in ("do", "does", "did", "can", "could") else 0
    if has_denying_word(question.text):
        return False
    return listed and len(other_words) <= verbs and other_words.isdisjoint(question.names)


def _stands_for_question(heading: str, question: QuestionTerms, known_words: frozenset[str]) -> bool:
    """Whether a heading stands for a question that names nothing but what the document is about."""
    text = question.text
    what_one_does = _ASKS_WHAT_OR_WHERE.match(text)
    if what_one_does is None or has_denying_word(text) or _ASKS_ACT.search(text):
        return False
    acts, words_of_heading = frozenset(question.terms) - known_words, frozenset(words(_without_number(heading)))
    by = "what" if what_one_does["what"] else "where"
    return any(acts and acts <= verbs and words_of_heading in headings for verbs, headings in headings_asked_for(by))


def _describes(statement: Statement, heading: str) -> bool:
    """Whether a statement under a heading is a whole sentence of a paragraph, or the entry that explains it."""
    if not statement.text.endswith((".", "!", ":")):
        return False
    return statement.quote.layout == "paragraph" or statement.text.removeprefix("- ").startswith(f"{heading}:")


def tells_use(statement: Statement, thing_words: frozenset[str], question: QuestionTerms) -> bool:
    """Whether a statement begins with a thing, or with "It" for it, so that it may say what this does or is for.

    Entries of manuals do; for a sign of one letter, nothing else does.
    """
    if is_entry(statement, question):
        return True
    if INSTRUCTION.match(statement.text) and not _PURPOSE.search(statement.text):  # "Use the option with care"
        return False
    subject = words(statement.before) if statement.before and refers_back(statement.text) else statement.words
    begins_so = thing_words <= frozenset(subject[: len(thing_words) + MAX_BEFORE])
    return begins_so and any(len(word) > 1 for word in thing_words)


def keep_uses_of_thing(statements: Sequence[Statement], question: QuestionTerms) -> list[Statement]:
    """Of statements that answer a question, those that say what the thing does, if it asks for that: first its entry.

    None, if a document has several entries of that name: a manual has an option -x of each command.
    """
    thing_words = asked_thing(question.text)
    entries = [statement for statement in statements if is_entry(statement, question)] if thing_words else []
    documents = list({entry.quote.id: entry.document for entry in entries}.values())
    if entries:
        return entries if len(documents) == len(set(documents)) else []
    return [statement for statement in statements if not thing_words or tells_use(statement, thing_words, question)]


def is_about_something_else(question: str, heading: str) -> bool:
    """Whether a heading is about the opposite of the question, or about troubleshooting."""
    particles = (frozenset(_PARTICLE.findall(text.casefold())) for text in (question, heading))
    trouble = _TROUBLE.search(heading) is not None and _TROUBLE.search(question) is None
    return (
        trouble
        or has_opposite_word(question, heading)
        or len(set(particles)) > 1
        or _does_something_else(question, heading)
        or _is_of_one_case(question, heading)
    )


def _does_something_else(question: str, heading: str) -> bool:
    """Whether a heading begins with another act than the question ("Delete" for "How do I list …?").

    Only acts that may also just request an answer, such as "list", are checked, as they have no weight elsewhere.
    """
    how_to = ASKS_HOW_TO.match(question)
    if how_to is None or how_to[1].casefold() not in request_words() - _MAKES:
        return False
    first = heading.partition(" ")[0]
    return not set(words(how_to[1])) & set(words(heading)) and not set(words(first)) & set(words(question))


def _is_of_one_case(question: str, heading: str) -> bool:
    """Whether a heading is only about the case of a name that the question does not have ("on Windows")."""
    later_words = heading.split()[1:]
    if any(word[:1].islower() and len(word) > MAX_SMALL_WORD for word in later_words):  # not a capitalized title
        return any(not set(words(name)) & set(words(question)) for name in _OF_NAME.findall(heading))
    return False


@lru_cache(maxsize=256)  # called for each sentence of the same quotes
def words_above(quote: Quote, *, is_of_cells: bool) -> frozenset[str]:
    """The words of the caption, section and document's name above a quote; for a row, of a table's headings, too.

    Of these headings the first one counts, or both if there are two.
    """
    header = head_line(quote).split(" | ") if is_of_cells else [""]
    first = (
        " ".join(header) if len(header) == 2 and quote.layout == "table" else header[0]
    )  # the second of two columns heads every cell
    names = [quote.caption, quote.section, quote.document.rpartition(".")[0], first]
    return frozenset(words("\n".join(filter(None, names))))
