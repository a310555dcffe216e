"""Check by rule whether a statement tells what a question asks for with a noun: "What is the price?", "Which ports?".

A statement may merely mention the noun ("the limits of X"), tell it about a part ("online revenue" is not all revenue)
or about another one ("the first county seat"), or introduce something that the answer cannot show.
"""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS, interrogative_words
from quoteweave.core.text.question_words import asked_thing_text, thing_kinds
from quoteweave.core.text.tokens import STOP_WORDS, WORD, name_words, words
from quoteweave.generation.extractive.acts.as_asked import asks_what_it_does, tells_what_it_does
from quoteweave.generation.extractive.acts.instructions import denies_unasked
from quoteweave.generation.extractive.acts.stated_amounts import new_numbers
from quoteweave.generation.extractive.named.stated_names import asks_name, tells_name
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.gate.amounts import NUMBER_WORDS
from quoteweave.generation.relevance import QuestionTerms, with_all_alike
from quoteweave.generation.sentence_kinds import INSTRUCTION, NO_NOUN

EXAMPLE = lazy_regex(r"\W*(?:For (?:example|instance)|E\.g\.)", re.IGNORECASE)
"""The beginning of a text that gives an example, which does not tell about all that is asked for."""
IN_EXAMPLE = lazy_regex(
    r"\b(?:in|for)\s+(?:this|our|the\s+(?:above|following|previous|first|second))\s+example\b", re.IGNORECASE
)
"""Words which show, wherever they stand, that a text is about an example alone."""
_AUXILIARY = r"(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|shall|may|must)\b"
_ASKED_NOUN = lazy_regex(
    r"\s*(?:what\s+(?P<verb>is|are|was|were)\s+"
    r"(?!.*\b(?:\w+ed|made|known|given|shown|said|built|found|held|kept)(?:\s+\w+)?\s*\??\s*$)"
    r"(?:[\w'’-]+\s+){0,4}?(?P<value>\w+?)(?P<ending>s?)\s*(?:\b(?:of|for|in|to|at|on|by|per|with|without|from|after|before|during|under|among)\b|\?|$)"
    rf"|(?:what|which)\s+(?!{_AUXILIARY})(?:(?!of\b)\w+\s+){{0,2}}?(?P<kind>(?!of\b)\w+?)s?\s+(?:of\s+(?:\w+\s+){{1,3}}?)?"
    r"(?:does|do|did|is|are|was|were|has|have|had|can|will|should)\b)",
    re.IGNORECASE,
)
_BEFORE_NOUN = r"(?P<before>[\w’'-]+)?\s*\b{noun}s?\b"
_ORDINAL = r"\b(first|second|third|former|previous|old|original|next|last|final)\s+(?:[\w’'-]+\s+){{0,2}}?{noun}s?\b"
_IS, _CONSISTS = r"(?:is|are|was|were)", r"(?:includes?|included|consists?|comprises?|such as|namely)\b"
_TELLS_OTHERWISE = (
    r"\b{noun}\s*[:(](?!\s*(?-i:[A-Z]{{2,6}}s?)\))|\bfollowing\s+(?:\w+\s+){{0,2}}{noun}\b[^.:;]{{0,40}}:\s+\w"
    r"|\b(?:is|are|was|were|as)\s+(?:(?:an?|the|its?|their|one|some|main|key|default|only)\s+){{0,3}}{noun}\b"
)
_TELLS = rf"\b{{noun}}\b.{{{{0,80}}}}?\b(?:{_IS}\b|{_CONSISTS})|{_TELLS_OTHERWISE}"
# "By default, the home is located in" does not say what the home is.
_ADVERB = r"(?:(?:now|still|always|currently)\s+)?"
_TELLS_WHICH = rf"\b{{noun}}\b.{{{{0,80}}}}?\b(?:{_IS}\s+{_ADVERB}(?!{NO_NOUN})|{_CONSISTS})|{_TELLS_OTHERWISE}"
_QUANTITY_NOUN = lazy_regex(
    r"weight|length|height|width|depth|size|speed|price|cost|fee|revenue|sale|income|profit|loss|earning|asset|debt"
    r"|liabilit\w*|dividend|rate|ratio|score|accuracy|capacity|population|age|minimum|maximum|temperature|voltage"
    r"|number|amount|total|average|share|percentage|horsepower|power|diameter|radius|area|volume|frequency|pressure"
    r"|thickness",
    re.IGNORECASE,
)
_VALUE_NOUN = lazy_regex(rf"value|balance|{_QUANTITY_NOUN.pattern}", re.IGNORECASE)
_TELLS_VALUE = (
    r"\b{noun}\b[^.;]{{0,40}}?(?:\b(?:is|are|was|were|of|at|to|total(?:s|ed)?|reach(?:es|ed))\b|[:=(])\s*"
    r"(?:about|approximately|around|only|up to|nearly|over)?\s*"
    r"(?:[$€£]|(?-i:[A-Z]{{3}})\b|(?-i:[A-Z]{{1,4}})-?(?=\d)|[-−–+](?=\d))?\s*"
    r"(?:(?!(?:19|20)\d\d\b)\d|"
    rf"(?:{NUMBER_WORDS}|hundred)\b)"
    r"|(?!(?:19|20)\d\d\b)\b\d[\d.,]*\s*(?:(?:mm|cm|km?|k?m|k?g|k?W|V|ml|l|Hz|%)\s+)?(?:\w+\s+)?(?:in\s+)?{noun}"
)
# "Ardent is released under the MIT license" tells its license; a clause after "which" is about another thing.
_IS_UNDER = (
    r"^(?:(?!\b(?:which|that|who|whose)\b)[^,;:]){{1,60}}\b(?:is|are|was|were)\s+(?:\w+\s+){{0,3}}?(?:under|by|with|as)\s+"
    r"(?:the\s+)?(?:terms\s+of\s+)?(?:the\s+)?[A-Z][\w.-]*\s+(?:[\w.-]+\s+){{0,3}}?(?i:{noun})\b"
)
# "Mutagens are of three types" tells their kinds.
_KINDS = r"(?:kind|type|sort|categor(?:y|ie)|classe?)"
_KIND_NOUN = lazy_regex(_KINDS, re.IGNORECASE)
_MEANING_ALL = frozenset({"total", "overall", "annual", "our", "its", "their", "main", "key"})
# "The following classes: A and B" lists them at once, and "below a level" introduces nothing.
_INTRODUCES = lazy_regex(
    r"(?i):\W*$|\b(?:following|as follows|below(?!\s+(?:(?:an?|the|this|its)\b|[\d$€£])))\b(?!.*:\s+\w)"
)
_FOLLOWING = lazy_regex(r"\bfollowing\s+((?:[\w-]+\s+){0,2}[\w-]+)\s*:\W*$", re.IGNORECASE)
_HOW_IS_DONE = lazy_regex(r"\W*how\s+(?:is|are|was|were)\b.*?\s(?P<verb>\w{2,}ed)\W*$", re.IGNORECASE)
_AIM = lazy_regex(r"\W*To\s+(?:\w+ly\s+)?(\w+)")
_IS_NOUN = lazy_regex(r"(?:ions?|ments?)$", re.IGNORECASE)
_ENDS_WITH_MAY = lazy_regex(r"\b(?:can|could|may|might|to)\s+(?:[\w'’-]+\s+){0,5}?$", re.IGNORECASE)
_ASKS_NEED = lazy_regex(
    r"\W*what\s+(?:do|does|will|would)\s+(?:\w+\s+){1,3}?(?:need|require)\s+(?:to|for)\s+(?!do\b)(?P<verb>\w+)",
    re.IGNORECASE,
)
_NEEDED = lazy_regex(r"\b(?:needs?|requires?)\b(?=(?P<to>\s+to\b)?(?P<what>(?:\s+[\w'’-]+){0,4}))", re.IGNORECASE)
_ASKS_ALL = lazy_regex(r"\W*(?:what|which)\s+are\s+(?:the|its|their|our|your)\s+(\w+s)\W*", re.IGNORECASE)
_LISTS_ALL = lazy_regex(r"\bthere\s+are\s+(?:\w+\s+)?(\w+s):\s+(?=\w[^.;]*(?:,|\band\b))", re.IGNORECASE)
_IS_NEEDED = lazy_regex(r"\b(?:need(?:s|ed)?|requir(?:es?|ed|ements?)|necessary)\b", re.IGNORECASE)
_ENTRY = lazy_regex(r"(?P<terms>[^\s:]+(?:\s[^\s:]+){0,3}?)(?::\s+|\s+(?=[A-Z][a-z]+\s))")


def is_entry(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement begins with the sign or term whose use a question asks for, as entries of manuals do.

    The term stands before or above a text of its own: "-x Print each command", for "What does -x do?". Other words of
    the question must be in the heading or the document's name.
    """
    asked_words = [word for word in asked_thing_text(question.text).split() if set(words(word)) - thing_kinds()]
    quote = statement.quote
    entry = _ENTRY.match(f"{statement.above}: {statement.text}" if statement.above else statement.text)
    terms = set(map(_as_term, entry["terms"].replace(",", " ").split())) if entry else set[str]()
    terms |= {term.removeprefix("--") for term in terms}  # "the keep option" is "--keep"
    other_words = [word for word in asked_words if _as_term(word) not in terms]
    above = {*words(quote.section or ""), *name_words(quote.document)}
    return len(other_words) < len(asked_words) and set(words(" ".join(other_words))) <= above


def _as_term(word: str) -> str:
    """A word as it names a term: "Errexit" is "errexit", but -X is not -x."""
    return word.casefold() if word.isalpha() else word


def is_substantive(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement does more than introduce what follows, or mention what is asked for ("the limits of X")."""
    text = question.text[:MAX_ANALYSED_CHARACTERS]
    if statement.is_of_cells or lists_all(statement.text, text):
        return True
    if asks_name(text):
        return statement.quote.kind == "text" and tells_name(statement.text, question)
    noun_match = None if question.analysis.asks_denied else _ASKED_NOUN.match(text)
    need = _ASKS_NEED.match(text)
    if (need is not None and _needs_act(statement.text, need["verb"])) or _tells_no_way(statement.text, text):
        return False
    if asks_what_it_does(text) and not (tells_what_it_does(statement.text, text) or is_entry(statement, question)):
        return False
    if noun_match is None or need is not None or asks_what_it_does(text):
        return not _only_introduces(statement)
    return _tells_noun(statement, question, noun_match)


def _tells_noun(statement: Statement, question: QuestionTerms, match: "re.Match[str]") -> bool:
    """Whether a statement tells what is asked for with a noun, and not only about a part of it or one of several."""
    noun = _KINDS if _KIND_NOUN.fullmatch(match["kind"] or "") else re.escape(match["value"] or match["kind"])
    noun_pattern = _BEFORE_NOUN.format(noun=noun)
    if match["verb"] and re.search(_IS_UNDER.format(noun=noun), statement.text):
        return not denies_unasked(statement, question)
    if re.search(noun_pattern, statement.text, re.IGNORECASE) is None:
        # Another word may say it, but a part of a name ("CARGO_HOME"), or the sentence before, does not.
        words_of_noun = set(words(match["value"] or "")) & {*statement.words, *words(statement.before)}
        no_value = match["value"] and _VALUE_NOUN.fullmatch(match["value"]) and not new_numbers(statement, question)
        return not (match["kind"] or words_of_noun or no_value)
    text = _without_parts(statement.text, noun_pattern, question.text) if match["value"] else statement.text
    part = re.search(noun_pattern, text, re.IGNORECASE) is None or _one_of_several(noun, text, question)
    example = match["kind"] and EXAMPLE.match(text)  # an example is not all that is asked for
    if part or example or denies_unasked(statement, question) or _only_introduces(statement):
        return False
    quantity = _QUANTITY_NOUN.fullmatch(match["value"] or "")
    if statement.introduced and not quantity and (match["kind"] or match["ending"]):
        following = _FOLLOWING.search(text)  # "using the following commands:" tells commands alone
        listed = following is None or re.search(rf"\b{noun}", following[1], re.IGNORECASE)
        return bool(listed) and any(part.form != "text" for part in statement.introduced)  # a list after its colon
    # "County seats were" does not tell what the county seat is, and one profile does not tell what all profiles are.
    noun += match["ending"] if match["verb"] else "s?"
    tells = _TELLS_VALUE if quantity else f"{_TELLS_WHICH}|{_TELLS_VALUE}" if match["value"] else _TELLS
    return re.search(tells.format(noun=noun), text, re.IGNORECASE) is not None


def _tells_no_way(text: str, question: str) -> bool:
    """Whether a text says only that something can be done, while the question is how it is done.

    "One can calculate the ratio" does not tell how it is calculated.
    """
    how = _HOW_IS_DONE.match(question)
    if how is None:
        return False
    act = with_all_alike(words(how["verb"]))
    aim = _AIM.match(text)
    if INSTRUCTION.match(text) and (aim is None or act.intersection(words(aim[1]))):
        return False
    places_of_act = [place for place in WORD.finditer(text) if act.intersection(words(place[0]))]
    return bool(places_of_act) and all(
        _IS_NOUN.search(place[0]) or _ENDS_WITH_MAY.search(text[: place.start()]) for place in places_of_act
    )


def lists_all(text: str, question: str) -> bool:
    """Whether a text lists all that a question asks for by one word alone: "There are two ports: Osk and Merrow".

    >>> lists_all("There are two ports: Osk and Merrow.", "What are the ports?")
    True
    """
    match = _ASKS_ALL.fullmatch(question)
    return match is not None and any(
        listing[1].casefold() == match[1].casefold() for listing in _LISTS_ALL.finditer(text)
    )


def _needs_act(text: str, verb: str) -> bool:
    """Whether what a text says is needed is only the act itself, while the question is what one needs for the act.

    "The kiln needs regular descaling" does not tell what one needs to descale it.
    """
    act = set(words(verb))
    remainder = _NEEDED.sub(lambda match: " " if act & set(words(match["what"])) or match["to"] else match[0], text)
    return _IS_NEEDED.search(remainder) is None


def _without_parts(text: str, noun_pattern: str, question: str) -> str:
    """A text without an asked noun where it belongs to a part: "online revenue" is not all revenue.

    If a part is named, the noun is kept only after a word of the question: "the set height; the clearance height".
    """
    words_of_question = set(WORD.findall(question.casefold())) - STOP_WORDS
    befores = {(match["before"] or "").casefold() for match in re.finditer(noun_pattern, text, re.IGNORECASE)}
    same = _MEANING_ALL.union(STOP_WORDS, words_of_question, [""])
    same = same if befores <= same else frozenset(words_of_question)
    return re.sub(
        noun_pattern,
        lambda match: match[0] if (match["before"] or "").casefold() in same else " … ",
        text,
        flags=re.IGNORECASE,
    )


def asked_noun(question: QuestionTerms) -> frozenset[str]:
    """The stem of the noun in "What is the …"; empty for another form, and for "What is the figure"."""
    match = _ASKED_NOUN.match(question.text[:MAX_ANALYSED_CHARACTERS])
    if not match or not match["value"]:
        return frozenset()
    return frozenset(words(f"{match['value']}{match['ending']}")) - interrogative_words()


def _one_of_several(noun: str, text: str, question: QuestionTerms) -> bool:
    """Whether a text is about the first or another of several ("the first county seat"), and the question does not."""
    ordinals = re.findall(_ORDINAL.format(noun=noun), text, re.IGNORECASE)
    return any(word.casefold() not in question.text.casefold().split() for word in ordinals)


def _only_introduces(statement: Statement) -> bool:
    """Whether a statement introduces something that the answer cannot show with it."""
    return not statement.introduced and _INTRODUCES.search(statement.text) is not None
