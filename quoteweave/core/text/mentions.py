"""Mentions of parts of a document: "Figure 3", "Table II", "page 12", "the last slide", "chapter 3", "Appendix A".

Questions, captions and headings are analysed alike, so that a mention and what it refers to get the same name:

figure 3, table 2        by `labels_in`; kinds of pictures are one, Roman numerals become Arabic
page 12, page iv         the page that is called so: by the label printed on it, or by its place in the file
page #2, page #-1        the second page of the file, and its last
chapter 3, section 3.2   what stands under that heading; also `part 2`, `unit 8`, `item 7`, `note 4`
chapter last             the last of a document's chapters that have a number
chapter 3 #1, part 2 #-1  the first page of chapter 3, the last of part 2
appendix, appendix a     the same of appendices
contents, references     the table of contents, and the list of references

The words for places are data (`reference_words.toml`), by language.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from quoteweave.core.text.reference_words import NUMBER, ReferenceWords, reference_words

_ROMAN_NUMBER = re.compile("(xl|l?x{0,3})(i[xv]|v?i{0,3})")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
# The letter of a part of a figure: "Fig. 3a".
_PANEL = re.compile(r"[a-zA-Z](?!\w)")
# What stands after the label of a caption, which a letter may end ("Fig. 3a"): a mark, nothing, or, after a space, a
# bracket, a quotation mark, or a letter. Where that letter is a small one, a sentence goes on.
_BEHIND_CAPTION_LABEL = re.compile(r"[a-zA-Z]?(?:\s*(?:[:.|–—：．-]|$)|\s+(?:[(“\"‘'„«「『（]|([^\W\d_])))")
# "Pages 3 to 400" of a question: it is not about each of them.
_MAX_RANGE_PAGES = 60
# Characters of a heading that may be nothing but "References".
MAX_ROLE_CHARACTERS = 60
MIN_CONTENTS_ENTRIES = 4
"""Least lines with page numbers that make a table of contents."""
MAX_ENTRY_CHARACTERS = 300
"""Most characters of such a line."""
# Least share of its page numbers that are not below the one before.
_MIN_STEADY = 0.8
# "3.2 Results", "IV. Methods", "A.1 Prompts": a heading's own number. A lone letter needs its full stop: "A. Data".
_HEADING_NUMBER = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){0,4})[.):]?\s+(?=\D)|([IVXL]{1,6})[.):]\s|([A-Z](?:\.\d{1,2}){1,4})[.):]?\s|([A-Z])\.\s"
)
_REFERENCE_HEADING = re.compile(r"[\W\d]*(?:[IVX]+\.\s*)?(.{1,40}?)\W*$")


def labels_in(text: str) -> list[str]:
    """Labels such as 'figure 3' or 'table 2', in order: kinds of pictures are one, Roman numerals become Arabic."""
    found = (label for match in reference_words().patterns["label"].finditer(text) for label in _labels(match))
    return list(dict.fromkeys(found))


def labels_asked_for(question: str) -> list[str]:
    """Those of `labels_in`, and those whose number a question writes as a word: "figure two", but no "two figures"."""
    words = reference_words()
    question = words.numerals.with_digits(question)
    named = [
        (match[1], words.numbers[match[2].casefold()]) for match in words.patterns["worded label"].finditer(question)
    ]
    # "The figure one sees".
    worded = [f"{words.kinds[kind.casefold()]} {number}" for kind, number in named if number > 1 or kind[0].isupper()]
    return list(dict.fromkeys([*labels_in(question), *worded]))


def leading_label(text: str) -> str | None:
    """The label with which a text begins, be it a caption or a sentence; None where it begins otherwise."""
    match = reference_words().patterns["label"].match(text.lstrip())
    return next(_labels(match), None) if match else None


def split_label(text: str) -> tuple[str, str]:
    """The label with which a text begins as it is written, such as 'Fig. 3a', and the rest; ("", text) for none."""
    match = reference_words().patterns["label"].match(text)
    if match is None:
        return "", text
    panel = _PANEL.match(text, match.end())
    end = panel.end() if panel else match.end()
    return text[:end], text[end:]


def caption_label(text: str) -> str | None:
    """The label with which a caption begins, such as 'figure 3'; None for a text that is no caption.

    A sentence about a picture is none: "Table 1 shows the tonnes."
    """
    text = text.lstrip()
    match = reference_words().patterns["label"].match(text)
    behind = match and _BEHIND_CAPTION_LABEL.match(text, match.end())
    if match is None or behind is None or (behind[1] or "").islower():
        return None
    return next(_labels(match), None)


def says_continued(text: str) -> bool:
    """Whether a caption or header says that what it stands at began before: "Table 3 (continued)"."""
    return reference_words().patterns["continued"].search(text) is not None


def _labels(match: "re.Match[str]") -> Iterator[str]:
    kind = reference_words().kinds.get((match[1] or match[2]).casefold())
    for name in (_arabic(match[3].casefold()), *re.findall(NUMBER, match[4])):
        if kind is not None and name is not None:
            yield f"{kind} {name}"


def label_spellings(label: str) -> list[str]:
    """The ways to write a label of `labels_in`, in all languages: 'figure 3' is also 'Fig. 3' and 'Abbildung 3'."""
    kind, _, name = label.partition(" ")
    return [f"{word} {name}" for word, meant in reference_words().kinds.items() if meant == kind]


def places_in(text: str) -> list[str]:
    """Names of the pages and sections that a question mentions, each once; a range of pages gives all of them."""
    words, of_parts = reference_words(), list[str]()
    text = pages = words.numerals.with_digits(text)
    if parts := list(_parts(text, words)):
        of_parts = _pages_of_parts(text, words)
        # "The first page of chapter 2" is not that of the document.
        pages = words.patterns["page of part"].sub(lambda match: f" {match['part']}", text)
    counted = [*_numbered_pages(pages, words), *_counted_pages(pages, words)]
    return list(dict.fromkeys([*counted, *of_parts, *parts]))


def titles_in(question: str) -> list[str]:
    """Titles by which a question calls a part: 'Recorded Demonstration' in "in the Recorded Demonstration section"."""
    return list(dict.fromkeys(reference_words().patterns["titled part"].findall(question)))


def without_places(text: str) -> str:
    """The text without its mentions of numbered or named pages and sections (`places_in`)."""
    words = reference_words()
    text = words.numerals.with_digits(text)
    for name in ("pages", "before last", "nth", "several", "counted", "part", "nth part", "role"):
        text = words.patterns[name].sub(" ", text)
    return text


def number_words() -> frozenset[str]:
    """The numbers that are written as words, in all languages and lower case: 'twelve', 'zwölf'."""
    return reference_words().numerals.words.union(reference_words().numbers)


def heading_names(heading: str) -> list[str]:
    """The names of the section under a heading; for '3.2 Results' also that of the enclosing chapter."""
    words = reference_words()
    line, found = heading.strip(), list[str]()
    # "Chapter Thirty", but "Thirty Years" has no number of its own.
    counted = words.numerals.with_digits(line)
    if (
        match := words.patterns["part"].match(counted)
        or words.patterns["nth part"].match(counted)
        or words.patterns["counted part"].match(counted)
    ):
        found += _part_names(match, words)
    elif match := _HEADING_NUMBER.match(line):
        number, roman, lettered, letter = match.groups()
        name = number or (roman and _arabic(roman.lower())) or (lettered or letter or "").lower()
        outer = [] if not name else [name.rsplit(".", times)[0] for times in range(name.count(".") + 1)]
        found += [f"section {each}" for each in outer]
        found += [f"{'chapter' if each.isdigit() else 'appendix'} {each}" for each in outer[-1:]]
    match = _REFERENCE_HEADING.match(line) if len(line) <= MAX_ROLE_CHARACTERS else None
    role = words.headings.get(match[1].casefold()) if match else None
    return [*found, *([role] if role else [])]


def rise_steadily(page_numbers: Sequence[int]) -> bool:
    """Whether page numbers hardly ever fall, as those of the lines of a table of contents."""
    steady = sum(before <= after for before, after in pairwise(page_numbers))
    return steady >= _MIN_STEADY * (len(page_numbers) - 1)


def page_names(label: str, number: int, count: int | None) -> list[str]:
    """The names of a page with this label and `number` (from 0), of `count` pages if that is known."""
    from_end = [f"page #{number - count}"] if count is not None else []
    # A label that looks like a place in the file would be taken for one.
    return [f"page {label.casefold().replace('#', '')}", f"page #{number + 1}", *from_end]


def _numbered_pages(text: str, words: ReferenceWords) -> Iterator[str]:
    """'page 12', 'pages 3, 4 and 6', 'slides 3 to 5', 'page three', 'page iv'."""
    for match in words.patterns["pages"].finditer(text):
        said = match[match.lastindex or 0]
        found = list(words.patterns["number"].finditer(said))
        before: int | None = None
        for i, each in enumerate(found):
            number = words.value(each[0])
            if number is None:
                yield f"page {each[0].casefold()}"
            elif i and before is not None and words.patterns["ranging"].search(said[found[i - 1].end() : each.start()]):
                first = before + 1 if before < number <= before + _MAX_RANGE_PAGES else number
                yield from (f"page {between}" for between in range(first, number + 1))
            else:
                yield f"page {number}"
            before = number


def _counted_pages(text: str, words: ReferenceWords) -> Iterator[str]:
    """'the second page', 'the first and last slides', 'second to last page', 'the first three pages', '第12页'."""
    before_last = words.patterns["before last"]
    yield from ("page #-2" for _ in before_last.finditer(text))
    text = before_last.sub(" ", text)
    for match in words.patterns["nth"].finditer(text):
        for each in words.patterns["each ordinal"].finditer(text, match.start(1), match.end()):
            if each.start() < match.end(1):  # not the "last" of "third to last"
                number = words.ordinal(each[0])
                # "The first and second-last pages" are the first and one from the end.
                joined = match[2] is not None and (each.end() == match.end(1) or ("to" in match[2] and number > 1))
                yield f"page #{-number if number > 0 and (joined or match[3]) else number}"
    for match in words.patterns["several"].finditer(text):
        first, said, said_before, first_behind = match.groups()
        number = min(words.value(said or said_before) or 0, _MAX_RANGE_PAGES)
        step = words.ordinal(first or first_behind)
        yield from (f"page #{step * each}" for each in range(1, number + 1))
    # The counters are of scripts beyond ASCII, and looking for a number in words at each letter takes time.
    for match in () if text.isascii() else words.patterns["counted"].finditer(text):
        number = words.value(match["number"]) or 0
        if match["to_last"]:
            yield f"page #-{number}"
        elif match["first"] or match["last"]:
            step = 1 if match["first"] else -1
            yield from (f"page #{step * each}" for each in range(1, min(number, _MAX_RANGE_PAGES) + 1))
        else:
            yield f"page {number}"


def _pages_of_parts(text: str, words: ReferenceWords) -> list[str]:
    """'the first page of chapter 3', 'where does part two end?'; of the contents and covers none."""
    found: list[tuple[str, int]] = []
    for match in words.patterns["page of part"].finditer(text):
        number = words.ordinal(match["nth"])
        found.append((match["part"], -number if match["to_last"] else number))
    found += [(match[0], -1) for match in words.patterns["part ends"].finditer(text)]
    found += [(match[0], 1) for match in words.patterns["part begins"].finditer(text)]
    names = [(next(_parts(part, words), "page"), number) for part, number in found]
    return [f"{name} #{number}" for name, number in names if not name.startswith(("page", "contents"))]


def _parts(text: str, words: ReferenceWords) -> Iterator[str]:
    """'chapter 3', 'sections 3.2', 'the last part', 'Appendix A', 'the appendix', 'the table of contents'."""
    for match in words.patterns["part"].finditer(text):
        if match["name"] != "I" or not _is_pronoun(match, text, words):
            yield from _part_names(match, words)
    for match in words.patterns["nth part"].finditer(text):
        yield from _part_names(match, words)
    for match in () if text.isascii() else words.patterns["counted part"].finditer(text):
        yield from _part_names(match, words)
    for match in words.patterns["role"].finditer(text):
        # In Turkish letters case is ignored in ways that folding does not undo: such a word is none of ours.
        if (name := words.roles.get(match[0].casefold())) is not None:
            yield name


def _is_pronoun(name: "re.Match[str]", text: str, words: ReferenceWords) -> bool:
    """Whether the "I" behind the name of a part is no numeral: in "the part I need", not in "does part I end"."""
    if not re.match(r"\s+[a-z]", text[name.end() : name.end() + 3]):
        return False
    is_name = name.start() > 0 and name[0][0].isupper()
    asked = re.search(r"\b(?:do|does|did|is|was)\s+$", text[max(0, name.start() - 8) : name.start()], re.IGNORECASE)
    return not (is_name or asked or words.patterns["limits"].match(text, name.end()))


def _part_names(match: "re.Match[str]", words: ReferenceWords) -> list[str]:
    kind, said = match["part"].casefold(), match["name"].casefold()
    part, name = words.parts.get(kind), _arabic(said)
    if match.re is words.patterns["nth part"]:
        number = words.ordinal(said)
        name = "last" if number == -1 else None if number < 0 or match["to_last"] else str(number)
    elif said in words.numbers:
        name = str(words.numbers[said])
    return [] if name is None or part is None else [f"{part} {name}", *(["appendix"] if part == "appendix" else [])]


def _arabic(name: str) -> str | None:
    """A Roman numeral as digits, other names as they are; None for a word that only looks like one ('ill')."""
    if _ROMAN_NUMBER.fullmatch(name):
        values = [_ROMAN[letter] for letter in name]
        return str(sum(-value if value < max(values[i:]) else value for i, value in enumerate(values)))
    return name if len(name) == 1 or not name.isalpha() else None
