"""Rewrites an English follow-up question by rules, so that it can be understood without the questions before it.

    How much grain was shipped in May?   And in June?          How much grain was shipped in June?
    What is the depth of the north quay? When was it built?    When was the north quay built?
    How many vessel calls were there?    Why?                  Regarding vessel calls, why?

If the new question is only a part, it replaces its counterpart in the question before. A pronoun is replaced by the one
noun phrase that it can stand for. If that is not certain, the words of the question before are added to the new one. A
question that can be understood alone stays as it is, and so does one in another language.
"""

import re
from collections.abc import Iterable, Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import words
from quoteweave.pipeline.follow_ups.words import (
    AUXILIARIES,
    COMMANDS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    NounPhrase,
    Time,
    Word,
    is_english,
    is_foreign,
    noun_phrases,
    read_words,
    times_in,
    topic_of,
)

_LEAD = lazy_regex(r"(?:(?:and|or|but|so|ok|okay|also|now|well|then)\b,?\s+)+", re.IGNORECASE)
_WHAT_ABOUT = lazy_regex(r"(?:what|how)\s+(?:about|of)\s+(?!\W*$)", re.IGNORECASE)
_BARE = lazy_regex(
    r"(?:why(?: not)?|how(?: so| come| much| many| often| long)?|where|when|who|whom|whose|since when|until when"
    r"|by (?:how much|whom|when)|which(?: (?:ones?|of them))?|what for|for what|compared (?:to|with) what)",
    re.IGNORECASE,
)
_MORE = lazy_regex(
    r"(?:(?:can|could|would) you\s+|please\s+)*(?:tell me more|(?:any |some )?more (?:details?|examples?)|elaborate"
    r"|explain(?: further| more)?|go on|say more|give (?:me )?(?:an? |some |more )*(?:examples?|details?)"
    r"|(?:what|who|where|anything|anyone) else)(?:\s+please)?",
    re.IGNORECASE,
)
_ANAPHORIC = lazy_regex(
    r"\bwhich ones?\b|\bthe (?:\w+ )?ones?\b|\bthe (?:others|rest|former|latter)\b(?! of\b)|(?<!\bis )(?<!\bare )"
    r"(?<!\bwas )(?<!\bwere )(?<!\bbe )\bthere(?=\W*$)",
    re.IGNORECASE,
)
_EXPLETIVE = lazy_regex(
    r"\bit(?:\s+\w+){0,3}?\s+(?:take|cost|mean|possible|impossible|true|likely|necessary|required|allowed|permitted|safe"
    r"|worth|important|common|legal|known|expected|correct|normal|recommended|advisable|better|best|clear|stated|said"
    r"|mentioned)\b.*\b(?:to|that|for|if|whether|when)\b|\bwhat time is it\b|\bit (?:rain|snow)s?\b",
    re.IGNORECASE,
)
_THAT_TIME = lazy_regex(r"\b(?:in |during )?that (?:year|month|quarter|time|period)\b", re.IGNORECASE)
_COURTESY = lazy_regex(r"\W*(?:thanks?|thank you|ok|okay|hello|hi|good|great|perfect|yes|no)\b[^?]*", re.IGNORECASE)
# If one of these words follows "these" or "those", the pronoun does not refer to the question before: words that begin
# a description, and words for the documents that are asked.
_NOT_REFERRED = frozenset(
    ["who", "that", "which", "whose", "with", "of", "documents", "reports", "files", "pages", "texts", "papers"]
)
_OF_KIND = lazy_regex(
    r"\bfor\s+((?:an?|each|every)\s+[a-z][\w'’-]*(?:\s+per\s+\w+)?)(?=\W*$|\s+(?:in|at|on|by|from|during)\b)"
)
_KIND = lazy_regex(r"(?:an?\s+)?[a-z][\w'’-]*")
_REGARDING = lazy_regex(r"Regarding (.+?), ")
MAX_PART_WORDS = 7
"""Words, at most, of a question that may be only a part, such as `And by rail?`."""
MAX_CHARACTERS = 500
"""Characters of a question, at most, for it to be rewritten: a longer one is no follow-up."""
MAX_TURNS = 20
"""How many earlier questions are read, since each may itself follow the one before it."""


def rewrite_by_rule(question: str, before: Sequence[str]) -> str | None:
    """Return the question so that it stands alone; None if it does already, or if it is unclear what it refers to.

    `before` are the questions that were asked before it, oldest first.
    """
    previous = ""
    for earlier in before[-MAX_TURNS:]:
        if words(earlier) and not _COURTESY.fullmatch(earlier.strip()):
            previous = (_rewrite(earlier, previous) if previous else None) or earlier
    return _rewrite(question, previous) if previous else None


def _rewrite(question: str, previous: str) -> str | None:
    line, previous = " ".join(question.split()), " ".join(previous.split())
    if max(len(line), len(previous)) > MAX_CHARACTERS or not is_english(previous) or is_foreign(line):
        return None
    plain = line.rstrip(" ?.!")
    lead = _LEAD.match(plain)
    body = plain[lead.end() :] if lead else plain
    if _BARE.fullmatch(body):
        return _complete_question_word(body, previous)
    if _MORE.fullmatch(body):
        return _regarding(body, previous, line)
    about = _WHAT_ABOUT.match(body)
    part = body[about.end() :] if about else body
    if about or _is_part(part, led=lead is not None, asks=line.endswith("?")):
        return _complete(part, previous, line)
    return _resolve(_capitalised(body) + line[len(plain) :], previous)


def _is_part(text: str, *, led: bool, asks: bool) -> bool:
    """Whether a text without a verb can only be understood as part of the question before."""
    tokens = read_words(text)
    if not tokens or len(tokens) > MAX_PART_WORDS:
        return False
    if _is_bare_quantity(tokens):
        return True
    if any(word.low in AUXILIARIES | QUESTION_WORDS | COMMANDS for word in tokens if word.text != "May"):
        return False
    times = times_in(text)
    is_time = len(times) == 1 and (times[0].start, times[0].end) == (0, len(text))
    opens = tokens[0].role == "preposition" and len(tokens) > 1
    return led or opens or (asks and (is_time or (tokens[0].role == "determiner" and len(tokens) <= 3)))


def _is_bare_quantity(tokens: Sequence[Word]) -> bool:
    """Whether it is "how many" or "how much", followed only by a place or time: "How many in June"."""
    asks = [word.low for word in tokens[:2]] in (["how", "many"], ["how", "much"])
    return asks and len(tokens) > 3 and tokens[2].low in PREPOSITIONS and not _has_auxiliary(tokens)


def _has_auxiliary(tokens: Iterable[Word]) -> bool:
    return any(word.low in AUXILIARIES and word.text != "May" for word in tokens)


def _complete_question_word(question: str, previous: str) -> str | None:
    """Complete a question that is only a question word."""
    first = read_words(previous)[0]
    if question.casefold() in ("why", "how", "when", "where", "since when") and first.low in AUXILIARIES:
        return f"{_capitalised(question)} {_lowered(previous)}"
    return _regarding(question, previous, "?")


def _regarding(question: str, previous: str, line: str) -> str | None:
    """Put the topic of the question before in front of a question."""
    regarding = _REGARDING.match(previous)
    topic = regarding[1] if regarding else topic_of(previous)
    end = "?" if line.endswith("?") else ""
    return f"Regarding {_lowered(topic)}, {_lowered(question)}{end}" if topic else None


def _complete(part: str, previous: str, line: str) -> str | None:
    """Put a part of a question into the question before it: in place of what it corresponds to, or at its end."""
    tokens = read_words(part)
    if _is_bare_quantity(tokens):
        part = part[tokens[2].start :]
    if any(word.role == "pronoun" or word.low in POSSESSIVES for word in tokens):
        return _resolve(f"What about {part}?", previous)
    completed: str | None = previous
    name_or_place, time = _split_time(part)
    if time is not None:
        completed = _with_time(previous, time)
    if name_or_place and completed is not None:
        opens = tokens[0].role == "preposition"
        completed = _with_place(completed, name_or_place) if opens else _with_name(completed, name_or_place)
    if completed is not None:
        return completed
    if len(words(name_or_place)) > 2 and time is None:
        return None  # so many words can be understood alone
    return f"{previous.rstrip(' ?.!')}, and what about {part}?" if line else None


def _split_time(part: str) -> tuple[str, Time | None]:
    """Split off the time at the end of a part of a question."""
    times = times_in(part)
    if len(times) != 1 or times[0].end != len(part):
        return part, None
    return part[: times[0].start].strip(" ,"), times[0]


def _with_time(previous: str, time: Time) -> str | None:
    """Replace the time of a question, or add it; None if the question mentions several times."""
    times = times_in(previous)
    if len(times) > 1:
        return None
    if not times:
        preposition = time.preposition or ("" if time.relative else "in")
        return _append(previous, f"{preposition} {time.text}")
    old_time = times[0]
    year = time.year or ("" if time.relative else old_time.year)
    unit = time.unit or ("" if time.relative or not time.year else old_time.unit)
    new_time = Time(0, 0, "", unit, year, time.relative).text
    preposition = time.preposition or old_time.preposition or "in"
    is_bare = time.relative and not time.preposition
    stands_alone = old_time.relative and not old_time.preposition
    if is_bare or (not old_time.preposition and not stands_alone):
        preposition = ""
    return f"{previous[: old_time.start]}{preposition} {new_time}".replace("  ", " ") + previous[old_time.end :]


def _with_place(previous: str, part: str) -> str | None:
    """Replace the words after the same preposition, or add the part; None if there are several such places."""
    preposition = read_words(part)[0].low
    tokens, times = read_words(previous), times_in(previous)
    spans: list[tuple[int, int]] = []
    for at, word in enumerate(tokens):
        if word.low == preposition and not any(time.start <= word.start < time.end for time in times):
            end = at + 1
            while end < len(tokens) and tokens[end].role in ("word", "determiner") and not _begins(tokens[end], times):
                end += 1
            if end > at + 1:
                spans.append((word.start, tokens[end - 1].end))
    if len(spans) > 1:
        return None
    if not spans:
        return _append(previous, part)
    start, end = spans[0]
    noun = previous[:end].rpartition(" ")[2]
    part = re.sub(r"\bones?$", lambda _: noun, part)
    return f"{previous[:start]}{_lowered(part)}{previous[end:]}"


def _begins(word: Word, times: Sequence[Time]) -> bool:
    return any(time.start == word.start for time in times)


def _with_name(previous: str, part: str) -> str | None:
    """Replace the noun phrase that the part corresponds to; None if it is not certain which."""
    phrases = noun_phrases(previous)
    heads = [phrase for phrase in phrases if phrase.head == " ".join(words(part)[-1:])]
    names = [phrase for phrase in phrases if phrase.is_name]
    plain = [word for word in read_words(part) if word.role == "word"]
    is_name = bool(plain) and all(word.text[:1].isupper() for word in plain)
    if not heads and is_name:
        heads = names
    if not heads and not is_name:
        heads = _counted(previous, phrases) if read_words(part)[0].role == "word" else _only_thing(previous, phrases)
    if len(heads) != 1:
        return _with_kind(previous, part)
    replaced = heads[0]
    old_first, new_first = read_words(replaced.text)[0], read_words(part)[0]
    keeps_determiner = old_first.role == "determiner" and new_first.role != "determiner" and not is_name
    determiner = f"{old_first.text} " if keeps_determiner else ""
    return f"{previous[: replaced.start]}{determiner}{_lowered(part)}{previous[replaced.end :]}"


def _with_kind(previous: str, part: str) -> str | None:
    """Replace the kind of thing in a phrase such as "for a hotel per night" by one word for another kind.

    The unit ("per night") belongs to the first kind and is dropped. None if there is no such phrase, or several.
    """
    matches = list(_OF_KIND.finditer(previous))
    if len(matches) != 1 or sum(word.low == "for" for word in read_words(previous)) != 1 or not _KIND.fullmatch(part):
        return None
    return f"{previous[: matches[0].start(1)]}{part}{previous[matches[0].end(1) :]}"


def _counted(previous: str, phrases: Sequence[NounPhrase]) -> list[NounPhrase]:
    """The noun phrase after "how many" or "how much"."""
    return [phrase for phrase in phrases if re.search(r"\bhow (?:many|much)\s+$", previous[: phrase.start], re.I)]


def _only_thing(previous: str, phrases: Sequence[NounPhrase]) -> list[NounPhrase]:
    """The noun phrase of a question that asks about nothing else: "When does the library open?"."""
    stands_alone = not any(word.role == "preposition" for word in read_words(previous))
    return [phrase for phrase in phrases if stands_alone and not phrase.is_name]


def _resolve(question: str, previous: str) -> str | None:
    """Replace a pronoun that refers to the question before; None if there is none."""
    if _EXPLETIVE.search(question):
        return None
    if (that_time := _THAT_TIME.search(question)) and len(times := times_in(previous)) == 1:
        time_words = f"{times[0].preposition or 'in'} {times[0].text}"
        return f"{question[: that_time.start()]}{time_words}{question[that_time.end() :]}"
    tokens = read_words(question)
    pronouns = [at for at in range(len(tokens)) if _refers(tokens, at, question)]
    if not pronouns:
        plain = question.rstrip(" ?.!")
        return _regarding(plain, previous, question) if _ANAPHORIC.search(plain) else None
    names = {_antecedent(tokens, at, previous) for at in pronouns}
    name = names.pop()
    if names or name is None:
        return _regarding(question.rstrip(" ?.!"), previous, question)
    for at in reversed(pronouns):
        start, end, replacement = tokens[at].start, _end(tokens, at), name
        if tokens[at].low in POSSESSIVES and _is_possessive(tokens, at):
            replacement = f"{name}'" if name.endswith("s") else f"{name}'s"
        question = f"{question[:start]}{replacement}{question[end:]}"
    return _capitalised(question)


def _refers(tokens: Sequence[Word], at: int, question: str) -> bool:
    """Whether a word is a pronoun for something of the question before, and for nothing of its own question."""
    word = tokens[at]
    if word.low not in PRONOUNS | POSSESSIVES or not _is_reference(tokens, at):
        return False
    if word.low in POSSESSIVES and _is_possessive(tokens, at):
        return not noun_phrases(question[: word.start])
    clauses = [joint for joint in tokens[:at] if joint.role == "joint" or joint.text == ","]
    return not (clauses and noun_phrases(question[: clauses[-1].start]))


def _is_reference(tokens: Sequence[Word], at: int) -> bool:
    """Whether `this`, `that`, `these` or `those` refers back, and not to the documents, and does not begin a clause."""
    low, last = tokens[at].low, at + 1 == len(tokens) or tokens[at + 1].role == "end"
    behind = tokens[at + 1].role if at + 1 < len(tokens) else "end"
    before = tokens[at - 1].role if at else "end"
    if low == "this":
        return behind not in ("word", "other")
    if low == "that":
        return last or (behind in ("auxiliary", "preposition", "word") and before in ("auxiliary", "preposition"))
    if low in ("these", "those"):
        return last or tokens[at + 1].low not in _NOT_REFERRED
    return True


def _is_possessive(tokens: Sequence[Word], at: int) -> bool:
    return tokens[at].low != "her" or (at + 1 < len(tokens) and tokens[at + 1].role in ("word", "determiner"))


def _end(tokens: Sequence[Word], at: int) -> int:
    """Where the words that are replaced end: after the pronoun, or after the noun of "those calls"."""
    follows = at + 1 < len(tokens) and tokens[at + 1].role == "word"
    return tokens[at + 1].end if follows and tokens[at].low in ("that", "these", "those") else tokens[at].end


def _antecedent(tokens: Sequence[Word], at: int, previous: str) -> str | None:
    """The one noun phrase of the question before that a pronoun can stand for; None if there are none or several."""
    low, phrases = tokens[at].low, noun_phrases(previous)
    with_noun = at + 1 < len(tokens) and tokens[at + 1].role == "word"
    if low in ("this", "that") and not with_noun:
        return None  # alone, these may refer to a whole statement
    if low in ("that", "these", "those") and with_noun:
        head = " ".join(words(tokens[at + 1].text))
        phrases = [phrase for phrase in phrases if phrase.head == head]
    elif low in ("he", "she", "him", "his", "her"):
        phrases = [phrase for phrase in phrases if phrase.is_name]
    else:
        plural = low in ("they", "them", "their", "these", "those")
        phrases = [phrase for phrase in phrases if phrase.is_plural == plural]
    texts = {phrase.text for phrase in phrases}
    return _lowered(texts.pop()) if len(texts) == 1 else None


def _append(previous: str, part: str) -> str:
    plain = previous.rstrip(" ?.!")
    return f"{plain} {_lowered(part.strip())}{previous[len(plain) :]}"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lowered(text: str) -> str:
    """The text with a small first letter, if its first word has a capital only because it began a sentence."""
    first = next(iter(read_words(text)), None)
    is_common = first is not None and first.role != "word" and first.text not in ("I", "May")
    return text[:1].lower() + text[1:] if is_common else text
