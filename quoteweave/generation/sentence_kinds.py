"""Tell by rule what kind of sentence one is: a definition, an instruction, or one that denies or prohibits.

An item of a list that is introduced as denied ("Never do any of the following:") says the opposite of what the document
says, if it is shown without the sentence above it, or without the heading ("What you must not do").
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Hit, Quote
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.question_analysis import Threshold, imperative_verbs
from quoteweave.core.text.tokens import WORD, words
from quoteweave.core.text.word_patterns import alternation
from quoteweave.generation.sentences import split_sentences

MAX_ASKING_HEADING = 200
"""The most characters of a heading that asks a question."""
LISTED_WORDS = 3
"""If the term is among so many words after ", a", there is a list ("an intron, a whole intron") and no definition."""

# What may precede the subject of a definition: "Now, a breccia is a rock".
_ARTICLE = lazy_regex(
    r"(?:(?:now|so|well|here|simply put|in short|basically)\s?,\s+)?(?:(?:an?|the)\s+)?[“\"'(]*", re.IGNORECASE
)
_NAMES_BEFORE = lazy_regex(r"\W*(?i:(?:an?|the|our|its|this)\s+)?(?:[A-Z][\w-]*\s+)*[“\"'(]*")
NO_NOUN = (
    r"(?:\w+(?:ed|ly|ing)|not|no|never|seldom|sometimes|often|now|already|also|always|still|then|thus|available|able|about|above|at|in|on|under"
    r"|open|free|made|built|shown|given|held|kept|full|empty|found|set|left|more|less|very|too|so)\b"
)
"""What follows "is" in a sentence that gives a property, an act or a place, and no noun."""
# "String literals are convenient, but" does not say what they are: a noun that does has an article, or is followed by
# what distinguishes it.
_NOUN_PHRASE = (
    r"(?=(?:an?|the|one|any|some|another|yet|primarily|mainly|our|its|his|her|their|simply|essentially|basically|what|how|when"
    r"|where|who|like"
    r"|[\w-]+['’]s)\b"
    r"|(?:[\w’'-]+\s+){1,6}?(?:of|that|which|who|whose|where|when|with|without|to|in|on|at|by|from|between|beside|for"
    r"|used|made|called|consisting|containing|and)\b)"
)
_SAYS_WHAT, _SAYS_WHAT_KIND = (
    lazy_regex(
        rf"[”\"')]*\s*(?:\([^)]*\)\s*)?"
        rf"(?:(?:is|are)\s+(?!{NO_NOUN}|\w+\s+to\b){phrase}|means?\b|refers? to|stands? for|denotes?|defines?\b"
        r"|represents?\b)",
        re.IGNORECASE,
    )
    for phrase in ("", _NOUN_PHRASE)
)
# "mentor: a person who helps beginners", or "mentor - a person", as glossaries have it; or "mentor A person who", where
# the term hangs beside its definition.
_TERM_OF_GLOSSARY = lazy_regex(
    rf"[”\"')]*(?:(?:\s*[:–—]|\s+-)\s+{_NOUN_PHRASE}|\s+(?-i:(?:An?|The)\s[a-z])[^.]*\b(?:of|that|which|who|or)\b)",
    re.IGNORECASE,
)
# "In Rust, a library or executable program is called a crate."
_NAMED = lazy_regex(
    r"\b(?:is|are)\s+(?:also\s+|often\s+)?(?:called|known as|named|termed)\s+(?:an?\s+|the\s+)?[“\"'(]*$", re.IGNORECASE
)
# "dhat.out" is a name of its own, and not "dhat".
_GOES_ON = lazy_regex(r"[.:/_-]\w")
# "Observed in RAPTOR, which is about 6.7 nodes" says this about another thing than RAPTOR.
_APPOSITION = lazy_regex(
    r"[”\"')]*\s*(?:\([^)]*\)\s*)?,\s+"
    r"(?:an?|which is(?!\s+(?:about|approximately|around|roughly|nearly|only|not|\W?\d)))\s"
)
# "Gape, the angle between the shells, is a sign of stress" is a definition only at the beginning of a sentence.
_ENCLOSED = lazy_regex(
    r"[”\"')]*\s*(?:\([^)]*\)\s*)?,\s+the\s+(?!(?:most|first|last|only|other)\b)[^,;.]{3,80},\s+"
    r"(?:is|are|was|were|has|have|had|can|may|must|does|did|\w{3,}s)\s"
)
# "In this type of mutation, a number of codons increases" does not say what a mutation is.
_LEADS_IN = lazy_regex(
    r"\W*(?:in|on|at|for|with|by|from|during|under|as|to|of|within|after|before)\s+"
    r"(?:(?:this|that|the|each|any|an?|such|most|some|all)\s+)?(?:\w+\s+of\s+)?(?:(?:the|an?)\s+)?",
    re.IGNORECASE,
)


def may_be_asking_heading(text: str) -> bool:
    """Whether a text may be a heading that asks a question, as those of frequently asked questions do."""
    return text.endswith("?") and len(text) <= MAX_ASKING_HEADING


def says_what(text: str, subject: Sequence[str], *, by_kind: bool = False, is_name: bool = False) -> bool:
    """Whether a sentence begins with the subject and says what it is, or says so in an apposition.

    `by_kind`: only with a noun and what distinguishes it, as definitions do, and not with a property or a number; or by
    what is called so. `is_name`: whether the subject is a name, before which other names may stand ("The GNU linker").
    """
    says, stems_of_subject = _SAYS_WHAT_KIND if by_kind else _SAYS_WHAT, set(subject)
    opens = _NAMES_BEFORE if is_name else _ARTICLE
    # ".kicad_pro" is another name than "KiCad".
    places = [match.span() for match in WORD.finditer(text) if stems_of_subject.issuperset(words(match[0]) or " ")]
    for start, end in _shortest_spans(text, places, stems_of_subject):
        says_so = says.match(text[end:]) or (by_kind and _is_entry_of_glossary(text[start:end], text[end:]))
        begins = opens.fullmatch(text[:start]) and (says_so or _ENCLOSED.match(text[end:]))
        beside = None if _LEADS_IN.fullmatch(text[:start]) else _APPOSITION.match(text[end:])
        listed = beside is not None and stems_of_subject & set(words(text[end + beside.end() :])[:LISTED_WORDS])
        has_name_before = by_kind and _NAMED.search(text[:start]) and not _GOES_ON.match(text[end:])
        if begins or has_name_before or (beside and not listed):
            return True
    return False


def _is_entry_of_glossary(term: str, behind: str) -> bool:
    """Whether what stands behind a term defines it without itself: "Layer — Key reference for the Layer menu"."""
    return _TERM_OF_GLOSSARY.match(behind) is not None and not re.search(rf"\b{re.escape(term)}\b", behind)


def _shortest_spans(text: str, places: Sequence[tuple[int, int]], subject: Set[str]) -> Iterator[tuple[int, int]]:
    """From each place, the shortest span with all words, with at most one place for each word: "ARD_HOME" has two."""
    for at, (start, _) in enumerate(places):
        ends = (end for _, end in places[at : at + len(subject)] if subject <= set(words(text[start:end])))
        yield from ((start, end) for end in itertools.islice(ends, 1))


def begins_with(text: str, subject: str) -> bool:
    """Whether a sentence begins with the subject, or with an article or names before it ("The GNU linker")."""
    subject_stems, subject_words = frozenset(words(subject)), frozenset(subject.casefold().split())
    for match in WORD.finditer(text):
        if words(match[0]) and subject_stems.issuperset(words(match[0])):
            return True
        if not (match[0][:1].isupper() or match[0].casefold() in subject_words or _ARTICLE.fullmatch(f"{match[0]} ")):
            return False
    return False


# "To delete a user was once possible" tells about an act, but "To delete a user, press F5" instructs. Within the aim, a
# verb follows only a word such as "how": "To see how the battery is charged, look".
_TELLS_OF_AIM = (
    r"To\s(?:(?!\b(?:how|what|that|which|who|whose|whom|if|whether|where|when|why|while|until|because|as)\b)[^,:;.])*?"
    r"\b(?:is|are|was|were|has|had|became|becomes|takes?|took|requires?|required|remains?)\b"
)
# What was done once, or is done no longer: "To delete a user, one had to press F5".
_PAST = (
    r"(?:(?:you|one|we|they|people|users)\s+used\s+to\b|had\s+to\b|(?:was|were)\s+once\b|once\s+(?:was|were|had)\b"
    r"|no\s+longer\b|formerly\b|previously\b)"
)
INSTRUCTION = lazy_regex(
    rf"\W*(?:\d+\W+)?(?!let(?:['’]s|\s+us)\b)(?!{_TELLS_OF_AIM})(?!To\s[^.]*?\b{_PAST})(?:To\s|(?:then|first|now|next|please)?,?\s*{alternation(sorted(imperative_verbs()))}\b)",
    re.IGNORECASE,
)

ROUGHLY = r"(?:(?:about|approximately|around|only|up to|nearly|over|at least|at most)\s+)?"
"""A pattern of what may stand before a number."""
FEW = r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
"""A pattern of small numbers in words."""

# Each of these is one clause: "Weight of the bike: 21 kg", "most of the budget – 45%", "poles, 2 metres tall".
CLAUSES = lazy_regex(
    rf"[,;](?=\s)(?!\s\d[\d.,]*\s\w+\s(?:tall|long|wide|deep|high|thick)\b)|:(?=\s)(?!\s*(?:[$€£]\s?)?\d|\s+{FEW}\b)|\s[–—-]\s(?!\d)"
)
# After "and", another thing may have a verb of its own: "and the boilers are inspected".
_JOINED_CLAUSE = lazy_regex(
    r"\s(?:and|but|while|whereas)\s(?=(?:the|an?|its|our|their|his|her|all|each|every|no)\s[^,;:]{2,60}?\s"
    r"(?:is|are|was|were|has|have|had|can|may|must|will|does|do)\s)",
    re.IGNORECASE,
)

# "Every week the windows are washed and the lamps are dusted": what begins a sentence is said of all its clauses.
_SAID_OF_ALL = lazy_regex(r"\W*(?:every|each|on|in|at|during|from|since|until|before|after|by)\s", re.IGNORECASE)


def clauses_of(text: str) -> list[str]:
    """The parts between the commas and colons of a sentence, and clauses of other subjects that "and" joins.

    >>> clauses_of("The hall is swept every day and the boilers are inspected.")
    ['The hall is swept every day', 'the boilers are inspected.']
    """
    parts = CLAUSES.split(text)
    return parts if _SAID_OF_ALL.match(text) else [clause for part in parts for clause in _JOINED_CLAUSE.split(part)]


# "See page 4" does not say it yet, and "Use the big one instead" is not about this one.
_TELLS_TO = lazy_regex(
    r"\W*(?!(?:See|Refer|Consult|The|An?|This|That|These|Those|It|They|We|I|There|In|On|At|For|By|From|With|As|Our|No)\b)"
    r"[A-Z][a-z]+(?<!s)(?<!ed)(?<!ing)(?<!ly)\s+(?!(?:from|of)\b|(?:\w+\s+){0,5}(?:is|are|was|were|has|have|had|can|may|will|came|\w+ed)\b)\w"
    r"|.*\b(?:should|must|(?i:you)\s+can|need\s+to|ha(?:ve|s)\s+to|(?i:please|never))\b"
)
_INSTEAD = lazy_regex(r"\binstead\b", re.IGNORECASE)


def tells_to(text: str) -> bool:
    """Whether a text says what to do about the thing itself."""
    return bool(INSTRUCTION.match(text) or _TELLS_TO.match(text)) and not _INSTEAD.search(text)


# "If the pump does not start, do this:" and "To avoid burns, do this:" prohibit nothing.
_CONDITIONAL_CLAUSE = lazy_regex(
    r"\b(?:if|when|whenever|where|because|since|who|whose|unless|in case|wenn|falls|sofern)\b(?:(?!\bnever\b)[^,:])*"
    r"|\bto\s+(?:avoid|not)\b(?!\s*:)[^,:]*",
    re.IGNORECASE,
)
_DENIES = lazy_regex(
    r"\b(?:not(?!\s+only\b)|never|no(?!\s+(?:later|more|less|fewer)\b)|none|nobody|neither|nothing|cannot|\w+n[’']t|avoid(?:ed)?"
    r"|forbidden|banned|prohibit(?:s|ed)|except|exclud(?:es|ed|ing)|nicht|nie|niemals|keine?[mnrs]?|vermeiden|verboten|untersagt)\b",
    re.IGNORECASE,
)
_NOT_SO = lazy_regex(
    r"\b(?:(?:not(?!\s+only\b)|never|cannot|\w+n[’']t)\s+(?:\w+ly\s+)?|(?:declin|refus)\w*\s+to\s+)(\w+)", re.IGNORECASE
)
# "Do not panic", "If it does not start" and "Avoiding burns" may stand above advice: only a heading that is nothing but
# the name of what is denied ("What is not covered", "Prohibited items") denies all that is under it.
_SUBJECT = (
    r"(?:(?:some|common|other|the|five|\d+)\s+)*(?:(?:\w+\s+)?(?:things?|acts?|actions?|items?|mistakes?)|what)\b"
)
_DENYING_HEADING = lazy_regex(
    rf"\W*(?:[\d.]+\s+)?(?:"
    rf"{_SUBJECT}(?:(?!\b(?:if|when|and|or)\b)[^,:?])*?(?:\bn[o’']t\b|\w+n[’']t\b|\bnever\b|\bcannot\b)"
    r"(?:(?!\b(?:work|start|found|respond|connect|appear)(?:s|ed|ing)?\b)[^,:?])*"
    rf"|{_SUBJECT}\s+(?:that\s+are\s+|are\s+|is\s+)?(?:forbidden|prohibited|banned)(?:\s[^,:?]*)?"
    rf"|{_SUBJECT}\s+(?:\w+\s+){{0,2}}?to\s+avoid(?:\s[^,:?]*)?"
    r"|(?:strictly\s+)?(?:forbidden|prohibited|banned|not\s+(?:allowed|permitted|covered|included))(?:\s+\w+){0,5}"
    r"|(?:never|do\s+not|don[’']t)\s+do\s+(?:this|that|these|any\b.*|the\s+following)"
    r"|do[’']?n[’']?ts|(?:was|dinge).*\b(?:nicht|nie)\b[^,:?]*|verboten(?:\s+ist)?|verbotenes?(?:\s+\w+){0,2}"
    r")\W*",
    re.IGNORECASE,
)


def heading_denies(heading: str) -> bool:
    """Whether a heading says that all under it is not so or must not be done: "What you must not do".

    >>> heading_denies("Things to avoid"), heading_denies("Do not panic"), heading_denies("How to avoid burns")
    (True, False, False)
    """
    return _DENYING_HEADING.fullmatch(" ".join(heading.split())) is not None


def denies(text: str) -> bool:
    """Whether a sentence has a word that denies or prohibits, outside of a condition."""
    return _DENIES.search(_CONDITIONAL_CLAUSE.sub(" ", text)) is not None


def has_denying_word(text: str) -> bool:
    """Whether a text has a word that denies or prohibits, be it in a condition: "Who is not covered?"."""
    return _DENIES.search(text) is not None


def only_denied_words(text: str) -> frozenset[str]:
    """The words that occur only after a "not": "lean", in "those who do not lean to a party"."""
    after = Counter(word for match in _NOT_SO.finditer(text) for word in words(match[1]))
    counts = Counter(words(text))
    return frozenset(word for word, times in after.items() if counts[word] == times)


def ends_by_denying(text: str) -> bool:
    """Whether the last sentence of a text introduces something as denied."""
    last = split_sentences(text)[-1:]
    return bool(last) and introduces_denied(last[0].text)


def introduces_denied(text: str) -> bool:
    """Whether a sentence introduces what is not so or must not be done: "Never do any of the following:"."""
    return introduces(text) and denies(text)


@lru_cache(maxsize=256)  # called for each sentence of the same quotes
def denied_from(text: str) -> int | None:
    """Index of the first sentence of a text that introduces something as denied and is not its last one.

    What follows it counts as denied up to the text's end. None where there is no such sentence.
    """
    sentences = split_sentences(text)[:-1]
    return next((at for at, sentence in enumerate(sentences) if introduces_denied(sentence.text)), None)


def without_denied(text: str) -> str:
    """A text up to the sentence that introduces something as denied."""
    first = denied_from(text)
    return text if first is None else text[: split_sentences(text)[first].start]


def denying_hit(quote: Quote, context: Context) -> tuple[int, Hit] | None:
    """The text that introduces a quote as denied, with its number in the context; None where there is none."""
    for number, hit in enumerate(context.texts, start=1):
        if quote.id in context.introduced.get(hit.quote.id, ()) and ends_by_denying(hit.quote.text):
            return number, hit
    return None


# "Included" names no subject, so that any sentence on both things would have all words of the question.
_ASKS_INCLUDED = lazy_regex(r"\b(?:is|are|was|were|does|do|did)\b.*\binclud(?:e|ed)\b", re.IGNORECASE)
_SAYS_INCLUDED = lazy_regex(
    r"\b(?:(?:inclu|exclu|cover|contain|compris)\w*|separately|extra(?!\s+\w+\s+with\b)"
    r"|(?:separate|additional)\s+(?:charge|fee|price|cost|bill|payment|supplement)s?|at\s+(?:an?\s+)?additional"
    r"|part\s+of\s+(?:the\s+|your\s+|our\s+)?(?:price|rent|fee|fare|rate|cost|package|offer|deal|ticket)|in\s+the\s+price|on\s+top"
    r"|(?:is|are|was|were)\s+free(?!\s+to\b)|free\s+of\s+charge|for\s+free|comes?\s+with|besides\s+the)\b",
    re.IGNORECASE,
)
# Who asked for permission may not have it; "guests are asked to leave" tells what they must do.
_ONLY_ASKED = lazy_regex(
    r"(?<!\bare )(?<!\bis )(?<!\bbe )\b(?:asked|applied|requested|demanded|proposed|sought)\b", re.IGNORECASE
)


def leaves_open(text: str, question: str) -> bool:
    """Whether a text does not answer yes or no, because it only tells a wish, or says nothing about what is included.

    >>> leaves_open("They asked for permission to swim.", "Is swimming allowed?")
    True
    """
    if _ASKS_INCLUDED.search(question) and not _SAYS_INCLUDED.search(text):
        return True
    return _ONLY_ASKED.search(text) is not None and _ONLY_ASKED.search(question) is None


_OVER = (
    r"over|above|(?:more|older|greater|longer|larger|higher|heavier)\s+than|exceed\w*|at\s+least|from|minimum(?:\s+of)?"
)
_UNDER = (
    r"under|below|(?:less|fewer|younger|shorter|smaller|lower|lighter)\s+than|at\s+most|up\s+to|until|maximum(?:\s+of)?"
)
_ASKS_LIMIT = lazy_regex(
    r"\W*what(?:['’]s|\s+(?:is|are))\s+the\s+"
    r"(?P<asked>(?:(?P<most>highest|largest|longest|greatest|biggest|heaviest)|lowest|smallest|shortest)\s+"
    r"(?:number\s+of\s+(?:\w+\s+)??(?P<counted>\w+)|(?P<time>time|period|stay|duration)))\b(?:.*\b(?:may|can|allowed|permitted)\b|\s+of\s+an?\b)",
    re.IGNORECASE,
)
_TIME_UNIT = r"(?:minute|hour|day|night|week|month|year)s?\b"
_AT_MOST = r"maximum(?:\s+of)?|at\s+most|up\s+to|(?:no|not)\s+more\s+than|capped\s+at|limited\s+to|not\s+exceed"
_AT_LEAST = r"minimum(?:\s+of)?|at\s+least|(?:no|not)\s+(?:less|fewer)\s+than|not\s+below"
_NUMBER = rf"(?:\d[\d.,]*|(?:one|{FEW})\b)"
_OVER_IT = r"(?:or|and)\s+(?:over|above|older|more|up|longer|higher|heavier|larger)"
_UNDER_IT = r"(?:or|and)\s+(?:under|below|younger|fewer|less|shorter|lower|lighter|smaller)"


def words_of_limit(text: str, question: str) -> frozenset[str]:
    """The words with which a question asks for the most or the least allowed, if a text tells it; none for another.

    >>> sorted(words_of_limit("It takes at most 32 cats.", "What is the highest number of cats it may take?"))
    ['cat', 'highest', 'number']
    """
    limit_question = _ASKS_LIMIT.match(question)
    if limit_question is None:
        return frozenset()
    counted = (
        rf"\s+(?:[^\W\d]\S*\s+){{0,2}}?{re.escape(limit_question['counted'])}\b"
        if limit_question["counted"]
        else rf"\s+{_TIME_UNIT}"
    )
    limit = _AT_MOST if limit_question["most"] else _AT_LEAST
    tells = re.search(rf"\b(?:{limit})\s+(?:\w+\s+)?{_NUMBER}{counted}", text, re.IGNORECASE)
    return frozenset(words(limit_question["asked"])) if tells else frozenset()


def is_beyond_limit(text: str, limit: Threshold | None) -> bool:
    """Whether a text is only about the other side of a number than a question: "from 12" for "under 12".

    A text with "only" is not, because what is so only on the other side is not so on this one.
    """
    if limit is None or re.search(r"\bonly\b", text, re.IGNORECASE):
        return False
    number = re.escape(limit.number)
    above, below = (
        re.search(form, text, re.IGNORECASE) is not None
        for form in (
            rf"\b(?:{_OVER})\s+(?:\w+\s+)?{number}(?!\w)|\b{number}\s+(?:\w+\s+)?{_OVER_IT}\b|\bbetween\s+{number}\s",
            rf"\b(?:{_UNDER})\s+(?:\w+\s+)?{number}(?!\w)|\b{number}\s+(?:\w+\s+)?{_UNDER_IT}\b|\bbetween\s+\S+\s+and\s+{number}(?!\w)",
        )
    )
    return below and not above if limit.is_lower_bound else above and not below
