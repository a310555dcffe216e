"""Mentions of parts of a document: "Figure 3", "Table II", "page 12", "the last slide", "chapter 3", "Appendix A".

Questions, captions and headings are analysed alike, so that a mention and what it refers to get the same name
(`PlaceName`).

The words for places are data (`reference_words.toml`), by language.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import LAST, UNREAD, PlaceName
from quoteweave.core.text.references.numerals import ROMAN, roman_numeral
from quoteweave.core.text.references.reference_words import NUMBER, ReferenceWords, reference_words
from quoteweave.core.text.word_patterns import MentionPattern, without_case

_ROMAN_NUMBER = lazy_regex(f"(?={ROMAN}$)c{{0,3}}(xc|xl|l?x{{0,3}})(i[xv]|v?i{{0,3}})")
_LISTED_ROMAN = lazy_regex(rf"\b(?:{ROMAN.upper()}|{ROMAN})\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
# The letter of a part of a figure, as in "Fig. 3a".
_PANEL = lazy_regex(r"[a-zA-Z](?!\w)")
# What follows the label of a caption, which may end with a letter ("Fig. 3a"): a mark, nothing or, after a space, a
# bracket, a quotation mark or a letter. If that letter is a small one, the text is a sentence rather than a caption.
_BEHIND_CAPTION_LABEL = lazy_regex(r"[a-zA-Z]?(?:\s*(?:[:.|–—：．-]|$)|\s+(?:[(“\"‘'„«「『（]|([^\W\d_])))")
PAGE, _UNKNOWN = PlaceName("page"), PlaceName("part", UNREAD)
# A longer range, such as "Pages 3 to 400", does not mean that the question is about each page.
_MAX_RANGE = 60
# What is counted in a range of names: "12", the end of "f-3" and "2.1", and letters other than Roman numerals.
_COUNTED = lazy_regex(r"(.*?)(\d+)|()([a-hjkmn-uwyz])")
# How far after "part I" a word is searched that joins the part to another: "part I of the report".
_MAX_JOINING = 20
# What may separate the parts of a heading: "PART II, Item 8".
_BETWEEN_PARTS = lazy_regex(r"[\s,;.:–—-]*")
# The most characters of a heading that may be nothing but a role such as "References".
MAX_ROLE_CHARACTERS = 60
MIN_CONTENTS_ENTRIES = 4
"""The least number of lines with page numbers that make a table of contents."""
MAX_ENTRY_CHARACTERS = 300
"""The most characters of such a line."""
# The least share of its page numbers that are not lower than the one before.
_MIN_STEADY = 0.8
# The number of a heading: "3.2 Results", "IV. Methods", "A.1 Prompts". A single letter needs a full stop: "A. Data".
_HEADING_NUMBER = lazy_regex(
    rf"(\d{{1,2}}(?:\.\d{{1,2}}){{0,4}})[.):]?\s+(?=\D)|({ROMAN.upper()})[.):]\s"
    r"|([A-Z](?:\.\d{1,2}){1,4})[.):]?\s|([A-Z])\.\s"
)
_REFERENCE_HEADING = lazy_regex(r"[\W\d]*(?:[IVX]+\.\s*)?(.{1,40}?)\W*$")


def labels_in(text: str) -> list[PlaceName]:
    """Names of figures and tables, such as 'figure 3', in order."""
    return list(dict.fromkeys(_labels_in(text)))


def first_label(text: str) -> PlaceName | None:
    """The first of `labels_in`; None if there is none."""
    return next(_labels_in(text), None)


def _labels_in(text: str) -> Iterator[PlaceName]:
    return (label for match in reference_words().patterns["label"].finditer(text) for label in _labels(match))


def labels_asked_for(question: str) -> list[PlaceName]:
    """Those of `labels_in`, and labels whose number is written as a word: "figure two", but not "two figures"."""
    vocabulary = reference_words()
    question = vocabulary.numerals.with_digits(question)
    named = [
        (match[1], vocabulary.numbers[without_case(match[2])])
        for match in vocabulary.patterns["worded label"].finditer(question)
    ]
    # Without this, "The figure one sees" would name a figure 1.
    worded = [
        PlaceName(vocabulary.kinds[without_case(kind)], str(number))
        for kind, number in named
        if number > 1 or kind[0].isupper()
    ]
    return list(dict.fromkeys([*labels_in(question), *worded]))


def leading_label(text: str) -> PlaceName | None:
    """The label with which a caption or sentence begins; None if it begins with something else."""
    match = reference_words().patterns["label"].match(text.lstrip())
    return next(_labels(match), None) if match else None


def split_label(text: str) -> tuple[str, str]:
    """The label with which a text begins, as written, such as 'Fig. 3a', and the rest; ("", text) without a label."""
    match = reference_words().patterns["label"].match(text)
    if match is None:
        return "", text
    panel = _PANEL.match(text, match.end())
    end = panel.end() if panel else match.end()
    return text[:end], text[end:]


def caption_label(text: str) -> PlaceName | None:
    """The label with which a caption begins, such as 'figure 3'; None for a text that is not a caption.

    A sentence about a picture is not a caption: "Table 1 shows the tonnes."
    """
    text = text.lstrip()
    match = reference_words().patterns["label"].match(text)
    behind = match and _BEHIND_CAPTION_LABEL.match(text, match.end())
    if match is None or behind is None or (behind[1] or "").islower():
        return None
    return next(_labels(match), None)


def says_continued(text: str) -> bool:
    """Whether a caption or header says that its table or section began earlier: "Table 3 (continued)"."""
    return reference_words().patterns["continued"].search(text) is not None


def _labels(match: "re.Match[str]") -> Iterator[PlaceName]:
    kind = reference_words().kinds.get(without_case(match[1] or match[2]))
    for name in (_arabic(match[3].casefold()), *re.findall(NUMBER, match[4])):
        if kind is not None and name is not None:
            yield PlaceName(kind, name)


def spellings_of(name: PlaceName) -> list[str]:
    """The ways to write the name of a picture or part, in all languages: 'figure 3' is also 'Abbildung 3'."""
    vocabulary = reference_words()
    if not name.number:
        return [word for word, meant in vocabulary.headings.items() if meant == name]
    kinds = (*vocabulary.kinds.items(), *vocabulary.parts.items())
    return [f"{word} {name.number}" for word, meant in kinds if meant == name.kind]


def places_in(text: str) -> list[PlaceName]:
    """Names of the pages and sections that a question mentions, each once; a range of pages gives all of them."""
    vocabulary = reference_words()
    text = vocabulary.numerals.with_digits(text)
    parts = list(_parts(text, vocabulary))
    limits = _limits_of_parts(text, vocabulary) if parts else ()
    return list(dict.fromkeys([*_numbered_pages(text, vocabulary), *_counted_pages(text, vocabulary), *limits, *parts]))


def titles_in(question: str) -> list[str]:
    """Titles by which a question names a part: 'Recorded Demonstration' in "in the Recorded Demonstration section"."""
    return list(dict.fromkeys(reference_words().patterns["titled part"].findall(question)))


def without_places(text: str) -> str:
    """The text without its mentions of numbered or named pages and sections (`places_in`)."""
    vocabulary = reference_words()
    text = vocabulary.numerals.with_digits(text)
    for name in ("pages", "before last", "nth", "several", "counted", "parts", "part", "nth part", "role"):
        text = vocabulary.patterns[name].sub(" ", text)
    return text


def number_words() -> frozenset[str]:
    """The numbers that are written as words, in all languages, in lower case: 'twelve', 'zwölf'."""
    return reference_words().numerals.words.union(reference_words().numbers)


def heading_names(heading: str) -> list[PlaceName]:
    """The names of the section under a heading; for '3.2 Results' also that of the enclosing chapter."""
    return list(_heading_names(heading))


# Cached: which part begins is asked several times for each title, and many pages begin with the same title.
@lru_cache(maxsize=1024)
def _heading_names(heading: str) -> tuple[PlaceName, ...]:
    vocabulary = reference_words()
    line = heading.strip()
    # "Chapter Thirty" is numbered, but "Thirty Years" has no number of its own.
    names = list(_leading_parts(vocabulary.numerals.with_digits(line, is_heading=True), vocabulary))
    if not names and (match := _HEADING_NUMBER.match(line)):
        number, roman, lettered, letter = match.groups()
        name = number or (roman and _arabic(roman.lower())) or (lettered or letter or "").lower()
        outer = [] if not name else [name.rsplit(".", times)[0] for times in range(name.count(".") + 1)]
        names += [PlaceName("section", outer_number) for outer_number in outer]
        names += [
            PlaceName("chapter" if outer_number.isdigit() else "appendix", outer_number) for outer_number in outer[-1:]
        ]
    if not names and vocabulary.patterns["titled appendix"].match(line):
        names.append(PlaceName("appendix"))
    match = _REFERENCE_HEADING.match(line) if len(line) <= MAX_ROLE_CHARACTERS else None
    role = vocabulary.headings.get(without_case(match[1])) if match else None
    is_further = role and role not in names and not (names and role.is_unread)
    return (*names, *([role] if role and is_further else []))


def _leading_parts(heading: str, vocabulary: ReferenceWords) -> Iterator[PlaceName]:
    """The names of all parts with which a heading begins: part 2 and item 8 for "PART II Item 8"."""
    patterns = [vocabulary.patterns[name] for name in ("part", "nth part", "counted part")]
    match = next(filter(None, (pattern.match(heading) for pattern in patterns)), None)
    if match is None and (unread := vocabulary.patterns["unread part"].match(heading)):
        yield PlaceName(vocabulary.parts[without_case(unread["part"])], UNREAD)
    while match is not None:
        yield from _part_names(match, vocabulary)
        behind = _BETWEEN_PARTS.match(heading, match.end())
        match = vocabulary.patterns["part"].match(heading, behind.end()) if behind else None


def rise_steadily(page_numbers: Sequence[int]) -> bool:
    """Whether page numbers hardly ever decrease, as in the lines of a table of contents."""
    steady = sum(before <= after for before, after in pairwise(page_numbers))
    return steady >= _MIN_STEADY * (len(page_numbers) - 1)


def page_names(label: str, number: int, count: int | None) -> list[PlaceName]:
    """The names of a page with this label and `number` (from 0), of `count` pages if that is known."""
    from_end = [PAGE.on_page(number - count)] if count is not None else []
    # Without "#", because a label that contains it would be read as a page's number in the file.
    return [PlaceName("page", label.casefold().replace("#", "")), PAGE.on_page(number + 1), *from_end]


def _numbered_pages(text: str, vocabulary: ReferenceWords) -> Iterator[PlaceName]:
    """Mentions such as 'page 12', 'pages 3, 4 and 6', 'slides 3 to 5', 'page three', 'page iv', 'page 2 of part 3'."""
    for match in vocabulary.patterns["pages"].finditer(text):
        listed = match[match.lastindex or 0]
        numbers = list(_listed_names(listed, vocabulary.patterns["page number"], vocabulary))
        part = _part_behind("of part", text, match.end(), vocabulary)
        for number in numbers:
            is_counted = part is not None and not part.is_unread and number.isdecimal()
            yield part.on_page(int(number)) if part and is_counted else PlaceName("page", number)


def _listed_names(listed: str, number_pattern: MentionPattern, vocabulary: ReferenceWords) -> Iterator[str]:
    """The numbers of '3, 4 and 6 to 8' and those between them; Roman numerals are left as they are."""
    before, end = "", 0
    for match in number_pattern.finditer(listed):
        number = vocabulary.value(match[0])
        name = without_case(match[0]) if number is None else str(number)
        if before and vocabulary.patterns["ranging"].search(listed, end, match.start()):
            yield from _numbers_between(before, name)
        yield name
        before, end = name, match.end()


def _numbers_between(first: str, last: str) -> list[str]:
    """'3' and '4' for '2' to '5', '2.2' for '2.1' to '2.3', 'b' for 'a' to 'c', 'v' for 'iv' to 'vi'; else nothing."""
    if (
        first.isalpha()
        and (numerals := [_arabic(first) or "", _arabic(last) or ""])
        and all(map(str.isdecimal, numerals))
    ):
        return [roman_numeral(number) for number in range(int(numerals[0]) + 1, int(numerals[1]))]
    first_match, last_match = _COUNTED.fullmatch(first), _COUNTED.fullmatch(last)
    if first_match is None or last_match is None or first_match[1] != last_match[1]:
        return []
    if first_match[1] is None:
        return [chr(code) for code in range(ord(first) + 1, ord(last))]
    start, end = int(first_match[2]), int(last_match[2])
    return [f"{first_match[1]}{number}" for number in range(start + 1, end)] if end - start <= _MAX_RANGE else []


def _part_behind(pattern: str, text: str, at: int, vocabulary: ReferenceWords) -> PlaceName | None:
    """The part whose pages are mentioned; an unread part if it is not known; None if no part is mentioned."""
    match = vocabulary.patterns[pattern].match(text, at)
    name = next(_parts(match["part"], vocabulary), _UNKNOWN) if match else None
    return None if name and name.is_page else name


def _counted_pages(text: str, vocabulary: ReferenceWords) -> Iterator[PlaceName]:
    """Mentions such as 'the second page', 'the first three pages', 'the last two pages of chapter 3', '第12页'."""
    for places, end in _places_of_pages(text, vocabulary):
        part = _part_behind("within part", text, end, vocabulary) or PAGE
        yield from (part.on_page(place) for place in places if not part.is_unread)
    # Counters exist only in scripts beyond ASCII, and looking for a number word at each letter takes time.
    for match in () if text.isascii() else vocabulary.patterns["counted"].finditer(text):
        number = vocabulary.value(match["number"]) or 0
        if match["to_last"]:
            yield PAGE.on_page(-number)
        elif match["first"] or match["last"]:
            step = 1 if match["first"] else -1
            yield from (PAGE.on_page(step * place) for place in range(1, min(number, _MAX_RANGE) + 1))
        else:
            yield PlaceName("page", str(number))


def _places_of_pages(text: str, vocabulary: ReferenceWords) -> Iterator[tuple[list[int], int]]:
    """The pages meant by ordinals, negative ones from the end, and the end of each mention in the text."""
    before_last = vocabulary.patterns["before last"]
    yield from (([-2], match.end()) for match in before_last.finditer(text))
    text = before_last.sub(lambda match: " " * len(match[0]), text)
    for match in vocabulary.patterns["nth"].finditer(text):
        yield list(_ordinals(match, vocabulary)), match.end()
    for match in vocabulary.patterns["several"].finditer(text):
        ordinal, count, leading_count, trailing_ordinal = match.groups()
        number, step = vocabulary.value(count or leading_count) or 0, vocabulary.ordinal(ordinal or trailing_ordinal)
        yield [step * position for position in range(1, number + 1) if number <= _MAX_RANGE], match.end()


def _ordinals(match: "re.Match[str]", vocabulary: ReferenceWords) -> Iterator[int]:
    """Of 'the first and last pages', 'second to last page', 'third page from the end' and 'the last page but one'."""
    to_last, end = match["to_last"], match.end("several")
    for ordinal_match in vocabulary.patterns["each ordinal"].finditer(
        match.string, match.start("several"), match.end()
    ):
        if ordinal_match.start() >= end:  # the "last" of "third to last"
            return
        number = vocabulary.ordinal(ordinal_match[0])
        # "The first and second-last pages" are the first page and the last but one.
        is_joined = to_last is not None and (ordinal_match.end() == end or ("to" in to_last and number > 1))
        if match["but"]:
            yield number - (vocabulary.value(match["but"]) or 0) if number == -1 else number
        else:
            yield -number if number > 0 and (is_joined or match["from_end"]) else number


def _limits_of_parts(text: str, vocabulary: ReferenceWords) -> Iterator[PlaceName]:
    """Mentions such as 'where does part two end?', 'the end of chapter 3', 'what is chapter 6 about?', but not covers.

    "What is page 5 of chapter 2 about?" asks for no other page of the chapter.
    """
    limits = (("part ends", -1), ("part begins", 1))
    limit_matches = [(match, place) for name, place in limits for match in vocabulary.patterns[name].finditer(text)]
    of_pages = _parts_of_pages(text, vocabulary) if limit_matches else ()
    for match, place in limit_matches:
        name = next(_parts(match[0], vocabulary), PAGE)
        if not name.is_page and match.start("first") not in of_pages:
            yield name.on_page(place)


def _parts_of_pages(text: str, vocabulary: ReferenceWords) -> set[int]:
    """Where parts are mentioned only to say which part a page is of: at "chapter 2" in "page 5 of chapter 2"."""
    ends = [match.end() for match in vocabulary.patterns["pages"].finditer(text)]
    ends += [end for _, end in _places_of_pages(text, vocabulary)]
    return {match.start("part") for end in ends if (match := vocabulary.patterns["within part"].match(text, end))}


def _parts(text: str, vocabulary: ReferenceWords) -> Iterator[PlaceName]:
    """Mentions such as 'chapter 3', 'sections 3.2 to 3.4', 'the last part', 'Appendix A', 'the table of contents'."""
    several = list(vocabulary.patterns["parts"].finditer(text))
    for match in several:
        part = vocabulary.plurals.get(without_case(match["part"]))
        listed = _LISTED_ROMAN.sub(
            lambda numeral: _arabic(numeral[0].lower()) or numeral[0], match[match.lastindex or 0]
        )
        for number in _listed_names(listed, vocabulary.patterns["part number"], vocabulary):
            yield from _names_of_part(part, _arabic(number))
    text = vocabulary.patterns["parts"].sub(" ", text) if several else text
    for match in vocabulary.patterns["part"].finditer(text):
        if match["name"] != "I" or not _is_pronoun(match, text, vocabulary):
            yield from _part_names(match, vocabulary)
    for match in vocabulary.patterns["nth part"].finditer(text):
        yield from _part_names(match, vocabulary)
    for match in () if text.isascii() else vocabulary.patterns["counted part"].finditer(text):
        yield from _part_names(match, vocabulary)
    for match in vocabulary.patterns["role"].finditer(text):
        yield vocabulary.roles[without_case(match[0])]


def _is_pronoun(name: "re.Match[str]", text: str, vocabulary: ReferenceWords) -> bool:
    """Whether the "I" after the name of a part is a pronoun: in "the part I need", but not in "does part I end"."""
    numeral_before = vocabulary.before_pronoun.get(without_case(name["part"]))
    behind = re.match(r"\s+([a-z]+)", text[name.end() : name.end() + _MAX_JOINING])
    if numeral_before is None or behind is None or behind[1] in numeral_before:
        return False
    is_name = name.start() > 0 and name[0][0].isupper()
    asking = re.search(r"\b(?:do|does|did|is|was)\s+$", text[max(0, name.start() - 8) : name.start()], re.IGNORECASE)
    return not (is_name or asking or vocabulary.patterns["limits"].match(text, name.end()))


def _part_names(match: "re.Match[str]", vocabulary: ReferenceWords) -> list[PlaceName]:
    name, part = without_case(match["name"]), vocabulary.parts.get(without_case(match["part"]))
    if match.re is vocabulary.patterns["nth part"].compiled:
        number, is_from_end = vocabulary.ordinal(name), match["to_last"] or match["from_end"]
        # Of the parts counted from the end, only the last has a name.
        place = LAST if number == -1 else str(number)
        return _names_of_part(part, None if is_from_end or number < -1 else place)
    return _names_of_part(part, str(vocabulary.numbers[name]) if name in vocabulary.numbers else _arabic(name))


def _names_of_part(part: str | None, number: str | None) -> list[PlaceName]:
    if part is None or number is None:
        return []
    return [PlaceName(part, number), *([PlaceName(part)] if part == "appendix" else [])]


def _arabic(name: str) -> str | None:
    """A Roman numeral as digits, other names unchanged; None for a word that only looks like a numeral ('ill')."""
    if _ROMAN_NUMBER.fullmatch(name):
        values = [_ROMAN[letter] for letter in name]
        return str(sum(-value if value < max(values[i:]) else value for i, value in enumerate(values)))
    return name if len(name) == 1 or not name.isalpha() else None
