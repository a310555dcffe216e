"""Check by rule whether a text says how one does something: with an instruction, or by naming the means."""

import re
from collections.abc import Sequence, Set

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.core.text.question_words import thing_kinds
from quoteweave.core.text.tokens import STOP_WORDS, WORD, words
from quoteweave.generation.extractive.acts.clauses import ARTICLES, PREPOSITIONS, names_as_head
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.languages import guess_language
from quoteweave.generation.relevance import QuestionTerms, subject_terms, with_all_alike
from quoteweave.generation.sentence_kinds import CLAUSES, INSTRUCTION, tells_to

ASKS_HOW_TO = lazy_regex(
    r"\W*how\s+(?:(?:do|can|should|could|would|must)\s+(?:I|you|we|one)|to)\s+(\w+)", re.IGNORECASE
)
_NAMES_MEANS = lazy_regex(
    r"\b(?:you|one|we)\s+(?:can|may|could|should|must|need\s+to|have\s+to|(?:should\s+)?(?:be|are|is)\s+able\s+to)\s+"
    r"(?:also\s+|simply\s+|easily\s+)?(\w+)\b[^.;:]*?\b(?:by\s+\w+ing|using|with)\b",
    re.IGNORECASE,
)
# "The lock is turned on by pressing both keys": the act as it is done, with its means.
_DONE_BY_MEANS = lazy_regex(
    r"\b(?:is|are|(?:can|may|must|should)\s+be)\s+(?:\w+ly\s+|only\s+)?(?P<verb>\w{2,})(?:\s+(?P<particle>off|out|on|up|down))?"
    r"\s+by\s+\w+ing\b",
    re.IGNORECASE,
)
_PARTICLE = lazy_regex(r"\b(?:off|out|on|up|down)\b", re.IGNORECASE)
_ASKS_DUTY = lazy_regex(
    r"\b(?:must|should|can|may|do|have\s+to|need\s+to|ought\s+to)\s+(?:I|we|you|one|members|participants)\s+"
    r"(?:(?:have|need)\s+to\s+)?(?!do\b)(?P<verb>\w+)",
    re.IGNORECASE,
)
_ASKS_WHAT_TAKES = lazy_regex(r"\W*how\s+long\s+do(?:es)?\s+(?:it\s+take\s+to\s+)?(?P<act>\w+)", re.IGNORECASE)
_TAKES = lazy_regex(
    r"\W*(?:(?:The|An?)\s+)?(?:(?:full|complete|whole|single|normal|typical)\s+)?(?P<act>\w+)\s+takes\s", re.IGNORECASE
)
_FIRST_VERB = lazy_regex(r"\W*(?:Please\s+|Always\s+)?(?P<verb>[A-Za-z]+)\b(?!:)")
_AIM = lazy_regex(r"\W*To\s(?P<leading>[^,]*),|.*?\bto\s+(?!the\b|an?\b|your\b)(?P<trailing>[a-z]\S*(?:\s+\S+){0,7})")
_LATER_STEP = lazy_regex(r"\W*(?:[2-9]|\d\d)[.)]?\s+(?=[A-Z])")
# "Whether it is so or not" denies nothing.
_NEGATES = lazy_regex(r"\b(?:(?<!\bor )not|not(?=\s+\w)|never|no|cannot|\w+n[’']t|fail\w*\s+to)\b", re.IGNORECASE)
_STEP_CLAUSES = lazy_regex(
    r"[,;:.]\s+|^(?!(?:dai|week|month|year|quarter)ly\b)\w+ly\s+",  # "Gently tap the filter"
    re.IGNORECASE,
)
# What is done with the thing, as protocols say it without naming who does it.
_DONE_SO = lazy_regex(r"\b(?:is|are)\s+(?:\w+ly\s+|then\s+)?\w{2,}ed\b(?!\s+by\b)", re.IGNORECASE)
_AND_OR_COMMA = lazy_regex(r"\s(?:and|or|und|oder|et|y)\s|,\s", re.IGNORECASE)
# A heading that tells an act: "3. How to clean and store the filter".
_HEADING_OF_ACT = lazy_regex(
    r"(?:[\d.]+[.:)]?\s+)?(?:(?:how\s+)?to\s+)?(?P<act>[^\W\d_]+)(?:\s+(?:and|or)\s+[^\W\d_]+)*(?P<behind>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT_ENDS = lazy_regex(
    rf"[(:;–—?!]|[,.]\s|\s(?:{PREPOSITIONS}|using|if|when|while|as|that|which)(?=\s|$)", re.IGNORECASE
)
_ADVERB = lazy_regex(r"\b(?:\w{2,}ly|again|back|away|yourself|manually)\b", re.IGNORECASE)
_ARTICLE = lazy_regex(rf"\b(?:{ARTICLES})\b", re.IGNORECASE)
_CALLS_NOTHING = frozenset(
    words(
        "instruction procedure step guide tip process overview basic method way note"  # "Cleaning tips"
        " machine device appliance product program app application software unit system tool equipment package"
    )
)
"""Nouns behind an act that name no thing of their own, or the very thing that a manual is of."""


def instructs(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement begins like an instruction, or introduces code, and has no other aim ("To protect the hook").

    A statement that names the means is one, too; a later step of several, by itself, is not. The aim must begin with
    what is asked for: "To see how the battery is charged, look" does not say how to charge it.
    """
    text = statement.text
    if _names_means(statement, question):
        return True
    if statement.above and set(words(statement.above)).issuperset(question.subject):  # the heading says the aim
        return any(map(INSTRUCTION.match, CLAUSES.split(text))) and not denies_unasked(statement, question)
    shows_code = any(part.form == "code" for part in statement.introduced)
    if not (INSTRUCTION.match(text) or shows_code) or _LATER_STEP.match(text) or denies_unasked(statement, question):
        return False
    if is_spread(text, subject_terms(question)):
        return False
    aim = _AIM.match(text)
    aimed = words(aim["leading"] or aim["trailing"]) if aim else []
    if aim is None or not aimed:
        return aim is None
    aim_words, above = with_words_alike(frozenset(aimed), question.terms), set(words(statement.quote.section or ""))
    return question.subject <= aim_words | above and not aim_words.isdisjoint(
        with_words_alike(frozenset(aimed[:1]), question.terms).intersection(question.terms)
    )


def does_it_to_another_thing(heading: str, question: QuestionTerms, known_words: Set[str]) -> bool:
    """Whether a heading tells the question's act for another thing: "Replace the lid seal", for "replace the lid".

    `known_words` are those that the manual says about all its sections, such as "kettle". Only the last noun of the
    act's object counts, and nothing does for a question that names no thing.
    """
    act, how_to = _HEADING_OF_ACT.match(heading), ASKS_HOW_TO.match(question.text)
    if act is None or how_to is None or with_all_alike(words(act["act"])).isdisjoint(words(how_to[1])):
        return False
    if not question.subject.difference(words(how_to[1])):
        return False
    behind = _ADVERB.sub(" ", _PARTICLE.sub(" ", act["behind"]))
    own_words = known_words | with_all_alike(question.terms)
    phrases = _AND_OR_COMMA.split(f" {_OBJECT_ENDS.split(behind)[0]} ")
    nouns = [noun for noun in (_last_noun(phrase, own_words) for phrase in phrases) if noun]
    return bool(nouns) and all(map(own_words.isdisjoint, nouns))


def _last_noun(nouns: str, own_words: Set[str]) -> list[str]:
    """The stem of the last of some nouns, without those that name no thing unless asked; with a number behind it."""
    stems = [words(word)[0] for word in WORD.findall(nouns) if word.casefold() not in STOP_WORDS and words(word)]
    kinds = (thing_kinds() | _CALLS_NOTHING) - own_words
    is_one_thing = len(stems) == 1 and stems[0] not in _CALLS_NOTHING and _ARTICLE.search(nouns)
    while stems and stems[-1] in kinds and not is_one_thing:  # "pairing mode" names none, "the alarm" does
        stems.pop()
    return stems[-2:] if stems and stems[-1].isdecimal() else stems[-1:]


def tells_to_do(text: str, question: str) -> bool:
    """Whether a clause of a text begins with the duty that a question asks when or how to do: "Return the form"."""
    duty = _ASKS_DUTY.search(question)
    if duty is None:
        return False
    first_verbs = (match["verb"].casefold() for match in map(_FIRST_VERB.match, CLAUSES.split(text)) if match)
    return duty["verb"].casefold() in first_verbs


def begins_with_act(text: str, question: str) -> bool:
    """Whether a text begins with the act of a question, as an order or with its duration: "Charging takes an hour"."""
    asked, stated = _ASKS_WHAT_TAKES.match(question), _TAKES.match(text)
    takes = asked is not None and stated is not None and words(asked["act"]) == words(stated["act"])
    return takes or tells_to_do(text, question)


def are_instructions(lines: Sequence[str]) -> bool:
    """Whether the first of numbered lines, or half of them, say what to do or what is done; True if not in English.

    Numbered lines may also list what is needed, or facts about the thing: "1. The filter is of steel".
    """
    if guess_language(" ".join(lines)) not in (None, "English"):
        return True
    are_steps = [_directs(line) for line in lines]
    return are_steps[0] or 2 * sum(are_steps) >= len(are_steps)


def _directs(line: str) -> bool:
    """Whether a clause of a line says what to do, or the line what is done."""
    clauses = (clause[:1].upper() + clause[1:] for clause in _STEP_CLAUSES.split(line))
    return any(map(tells_to, clauses)) or _DONE_SO.search(line) is not None


def _is_done_by_means(text: str, question: QuestionTerms, verb: Set[str]) -> bool:
    """Whether a text tells by what the act is done to the thing asked about, and not to another by means of it."""
    done, particle = _DONE_BY_MEANS.search(text), _PARTICLE.search(question.text)
    if done is None or verb.isdisjoint(words(done["verb"])):
        return False
    same_way = (particle[0] if particle else "").casefold() == (done["particle"] or "").casefold()
    return same_way and names_as_head(CLAUSES.split(text[: done.start()])[-1], question.subject - verb)


def _names_means(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement names a means to do what is asked: "You can recover it by running the command again"."""
    way, how_to = _NAMES_MEANS.search(statement.text), ASKS_HOW_TO.match(question.text)
    verb = with_all_alike(words(how_to[1])) if how_to is not None else frozenset[str]()
    same = way is not None and not verb.isdisjoint(words(way[1]))
    same = same or _is_done_by_means(statement.text, question, verb)
    return same and not denies_unasked(statement, question)


def denies_unasked(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement denies something, and the question does not."""
    return _NEGATES.search(statement.text) is not None and _NEGATES.search(question.text) is None


def is_spread(text: str, subject: Sequence[str]) -> bool:
    """Whether a text has the question's words spread over several things: "Update Homebrew and install pyenv"."""
    parts = [part for part in (set(words(part)) for part in _AND_OR_COMMA.split(text)) if part & set(subject)]
    spread = set().union(*parts).intersection(subject)
    return len(parts) > 1 and all(not part <= set(subject) and part & set(subject) < spread for part in parts)
