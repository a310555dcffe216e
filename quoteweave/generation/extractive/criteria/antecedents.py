"""Tell what "It" and "We" stand for at the beginning of a sentence, and which are not about their document's thing."""

import re
from collections.abc import Sequence, Set

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import name_words, words
from quoteweave.core.text.units import dimensions_in
from quoteweave.generation.extractive.acts.asked_acts import tells_asked_act
from quoteweave.generation.extractive.named.answer_names import ASKS_WHO_DID
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.dates import RECENT_YEAR
from quoteweave.generation.relevance import QuestionTerms, says_all
from quoteweave.generation.sentences import split_sentences

_SAYS_WE = lazy_regex(r"We\s")
_WE = lazy_regex(r"\b(?:(?i:we|our|my|wir|unser\w*|ich|mein\w*|nous|notre|nos|je)|us|I)\b")
_QUOTED = lazy_regex(r"“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|\"[^\"]*(?:\"|$)|«[^»]*(?:»|$)")
# What a mail quotes below its own text: "Ada wrote:", "-----Original Message-----"
_QUOTES_MAIL = lazy_regex(
    r"\b(?:wrote|writes|schrieb|schreibt|a\s+écrit|escribió)\s*:(?!\s*>)"
    r"|^[ \t>]*[-_]{3,}\s*(?:original\s+message|forwarded\s+message|ursprüngliche\s+nachricht|message\s+d['’]origine)",
    re.IGNORECASE | re.MULTILINE,
)
# "Letter from a resident", "Complaint of a member", "Leserbrief von Ada Byron"
_WRITTEN_BY = lazy_regex(r"\b(?:(?:from|by|von|vom)\s|(?:of\s+an?|eine[rs])\s).+", re.IGNORECASE)
_OF_ANOTHER = lazy_regex(r"\b(?:(?:the|our)\s+other|another|neighbou?ring)\b", re.IGNORECASE)
_DIRECTION = lazy_regex(r"\b(?P<way>to|from)\s+(?P<place>[A-ZÀ-Þ]\w+)")
_ABOUT_OTHERS = lazy_regex(r"\b(?:to|for|about|on|with|against|from)\s.*", re.IGNORECASE)


def words_named_before(
    statement: Statement, question: QuestionTerms, subject: Sequence[str], asked_noun: Set[str]
) -> frozenset[str]:
    """The words of the sentence that says what "It" is, if the statement itself tells what is asked about it.

    It does so if it has the last word of the subject, if it tells the quantity asked for ("It weighs 46 kg"), or, for
    who did something, if it tells the act ("It was founded by Ada Byron").
    """
    if not statement.before:
        return frozenset()
    quantity, did = question.quantity, ASKS_WHO_DID.match(question.text)
    last = words(did["verb"]) if did else [word for word in subject if not RECENT_YEAR.fullmatch(word)][-1:]
    tells_itself = any(noun and says_all(statement.words, noun) for noun in (last, asked_noun))
    if quantity is not None and not quantity.named.union(words(question.asked_by)).isdisjoint(statement.words):
        tells_itself = tells_itself or not quantity.dimensions.isdisjoint(dimensions_in(statement.text))
    return frozenset(words(statement.before)) if tells_itself else frozenset()


def is_of_another(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement, or the heading above it, is of another thing than the document's title.

    In a guide to Oslo, "The ferry to Kiel" is no ferry to Oslo.
    """
    text, heading = statement.text, statement.heading
    is_heading_asked = not (question.names or question.subject).isdisjoint(words(heading))
    if _OF_ANOTHER.search(text) or (_OF_ANOTHER.search(heading) and not is_heading_asked):
        return True
    asked = {match["way"]: match["place"] for match in _DIRECTION.finditer(question.text)}
    return any(asked.get(match["way"], match["place"]) != match["place"] for match in _DIRECTION.finditer(text))


def words_for_us(statement: Statement, question: QuestionTerms, context: Context) -> frozenset[str]:
    """The words of a document's name and title, for whose people "we" stands, if they do what is asked.

    In a "Letter to parents", these are not the parents, and in "Complaints about rowers" not the rowers.
    """
    if _SAYS_WE.match(statement.text) is None or not tells_asked_act(statement.text, question.text):
        return frozenset()
    title = context.titles.get(statement.document, "")
    people = _ABOUT_OTHERS.search(title)
    return frozenset(name_words(statement.document)).union(words(title)).difference(words(people[0]) if people else ())


def says_we_of_others(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a speaker who is quoted says "we", or the writer of a letter, and the question does not name them.

    'A farmer said: "We keep 95 cows."' tells how many the farmer keeps, and not the dairy whose report it is; nor does
    "> We keep 95 cows." or "Ada wrote: We keep 95 cows." in a reply, so that a question for the dairy is about others.
    """
    quote, at = statement.quote, statement.sentence_index
    sentences = split_sentences(quote.text) if quote.kind == "text" else []
    if at >= len(sentences):
        return False
    text, start, end = sentences[at]
    outside = _QUOTED.sub(lambda match: " " * len(match[0]), quote.text)[start:end]
    says_we = [outside[match.start()].isspace() for match in _WE.finditer(text)]
    writer = _WRITTEN_BY.search(statement.heading)
    line = quote.text[quote.text.rfind("\n", 0, start + 1) + 1 :].lstrip()
    is_quoted = says_we and (line.startswith(">") or _QUOTES_MAIL.search(quote.text, 0, end))
    if is_quoted and not question.subject <= frozenset(words(text)):
        return True
    speaker = outside if any(says_we) else writer[0] if writer and says_we else None
    return speaker is not None and question.subject.isdisjoint(words(speaker))
