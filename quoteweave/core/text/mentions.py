"""Mentions of parts of a document: "Figure 3", "Table II", "page 12", "the last slide", "chapter 3", "Appendix A".

Questions, captions and headings are analysed alike, so that a mention and what it refers to get the same name:

figure 3, table 2        by `labels_in`; kinds of pictures are one, Roman numerals become Arabic
page 12, page iv         the page that is called so: by the label printed on it, or by its place in the file
page #2, page #-1        the second page of the file, and its last
chapter 3, section 3.2   what stands under that heading; also `part 2`, `unit 8`, `item 7`, `note 4`
appendix, appendix a     the same of appendices
contents, references     the table of contents, and the list of references

The words for places are data (`reference_words.toml`), by language.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_NUMBER = r"\d+(?:[.-]\d+)*"
# Captions also say "Table S1", "Figure A.2" and "Exhibit C"; a lone letter must be a capital, or `a` would be one.
_NAME = rf"(?:[A-Za-z][.-]?)?{_NUMBER}|[IVXLivxl]+\b|[A-Z]\b"
# A small numeral alone is an article in some languages: "la figura i dati", "le tableau l'indique".
_LABEL_NAME = rf"(?:[A-Za-z][.-]?)?{_NUMBER}|[IVXL]+\b|[ivxl]{{2,}}\b|[ivxl]\b(?!['’]|\s+[^\W\d_]{{2}})|[A-Z]\b"
# Before a label in a script without spaces, such as 表3: no other character of it, or one of "see" and "in".
_NO_WORD_BEFORE = "(?<![\u4e00-\u9fff])|(?<=[如见見在从從据據和与與及、])"
_ROMAN_NUMBER = re.compile("(xl|l?x{0,3})(i[xv]|v?i{0,3})")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
# A figure may be called a chart in the question and a figure in its caption, but never a table.
_KINDS = ("figure", "table", "algorithm", "box")
# The letter of a part of a figure: "Fig. 3a".
_PANEL = re.compile(r"[a-zA-Z](?!\w)")
# What stands behind the label of a caption, which a letter may end ("Fig. 3a"): a mark, nothing, or, after a space, a
# bracket, a quotation mark, or a letter. Where that letter is a small one, a sentence goes on.
_BEHIND_CAPTION_LABEL = re.compile(r"[a-zA-Z]?(?:\s*(?:[:.|–—：．-]|$)|\s+(?:[(“\"‘'„«「『（]|([^\W\d_])))")
# "Pages 3 to 400" of a question: it is not about each of them.
_LONGEST_RANGE = 60
# Characters of a heading that may be nothing but "References".
LONGEST_ROLE = 60
# "3.2 Results", "IV. Methods", "A.1 Prompts": a heading's own number. A lone letter needs its full stop: "A. Data".
_HEADING_NUMBER = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){0,4})[.):]?\s+(?=\D)|([IVXL]{1,6})[.):]\s|([A-Z](?:\.\d{1,2}){1,4})[.):]?\s|([A-Z])\.\s"
)
_REFERENCE_HEADING = re.compile(r"[\W\d]*(?:[IVX]+\.\s*)?(.{1,40}?)\W*$")


def labels_in(text: str) -> list[str]:
    """Labels such as 'figure 3' or 'table 2', in order: kinds of pictures are one, Roman numerals become Arabic."""
    found = (label for match in _words().label.finditer(text) for label in _labels(match))
    return list(dict.fromkeys(found))


def leading_label(text: str) -> str | None:
    """The label with which a text begins, be it a caption or a sentence; None where it begins otherwise."""
    match = _words().label.match(text.lstrip())
    return next(_labels(match), None) if match else None


def split_label(text: str) -> tuple[str, str]:
    """The label with which a text begins as it is written, such as 'Fig. 3a', and the rest; ("", text) for none."""
    match = _words().label.match(text)
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
    match = _words().label.match(text)
    behind = match and _BEHIND_CAPTION_LABEL.match(text, match.end())
    if match is None or behind is None or (behind[1] or "").islower():
        return None
    return next(_labels(match), None)


def says_continued(text: str) -> bool:
    """Whether a caption or header says that what it stands at began before: "Table 3 (continued)"."""
    return _words().continued.search(text) is not None


def _labels(match: "re.Match[str]") -> Iterator[str]:
    kind = _words().kinds.get((match[1] or match[2]).casefold())
    for name in (_arabic(match[3].casefold()), *re.findall(_NUMBER, match[4])):
        if kind is not None and name is not None:
            yield f"{kind} {name}"


def label_spellings(label: str) -> list[str]:
    """The ways to write a label of `labels_in`, in all languages: 'figure 3' is also 'Fig. 3' and 'Abbildung 3'."""
    kind, _, name = label.partition(" ")
    return [f"{word} {name}" for word, meant in _words().kinds.items() if meant == kind]


def places_in(text: str) -> list[str]:
    """Names of the pages and sections that a question mentions, each once; a range of pages gives all of them."""
    words = _words()
    return list(dict.fromkeys([*_numbered_pages(text, words), *_counted_pages(text, words), *_parts(text, words)]))


def without_places(text: str) -> str:
    """The text without its mentions of numbered or named pages and sections (`places_in`)."""
    words = _words()
    for mention in (words.pages, words.nth, words.several, words.counted, words.part, words.role):
        text = mention.sub(" ", text)
    return text


def number_words() -> frozenset[str]:
    """The numbers that are written as words, in all languages and lower case: 'twelve', 'zwölf'."""
    return frozenset(_words().numbers)


def heading_names(heading: str) -> list[str]:
    """The names of the section under a heading; for '3.2 Results' also that of the enclosing chapter."""
    words, line = _words(), heading.strip()
    found: list[str] = []
    if match := words.part.match(line):
        found += _part_names(match, words)
    elif match := _HEADING_NUMBER.match(line):
        number, roman, lettered, letter = match.groups()
        name = number or (roman and _arabic(roman.lower())) or (lettered or letter or "").lower()
        outer = [] if not name else [name.rsplit(".", times)[0] for times in range(name.count(".") + 1)]
        found += [f"section {each}" for each in outer]
        found += [f"{'chapter' if each.isdigit() else 'appendix'} {each}" for each in outer[-1:]]
    match = _REFERENCE_HEADING.match(line) if len(line) <= LONGEST_ROLE else None
    role = words.headings.get(match[1].casefold()) if match else None
    return [*found, *([role] if role else [])]


def page_names(label: str, number: int, count: int | None) -> list[str]:
    """The names of a page with this label and `number` (from 0), of `count` pages if that is known."""
    from_end = [f"page #{number - count}"] if count is not None else []
    # A label that looks like a place in the file would be taken for one.
    return [f"page {label.casefold().replace('#', '')}", f"page #{number + 1}", *from_end]


def _numbered_pages(text: str, words: "_Words") -> Iterator[str]:
    """'page 12', 'pages 3, 4 and 6', 'slides 3 to 5', 'page three', 'page iv'."""
    for match in words.pages.finditer(text):
        found = list(words.number.finditer(match[1]))
        before: int | None = None
        for i, each in enumerate(found):
            number = words.value(each[0])
            if number is None:
                yield f"page {each[0].casefold()}"
            elif i and before is not None and words.ranging.search(match[1][found[i - 1].end() : each.start()]):
                first = before + 1 if before < number <= before + _LONGEST_RANGE else number
                yield from (f"page {between}" for between in range(first, number + 1))
            else:
                yield f"page {number}"
            before = number


def _counted_pages(text: str, words: "_Words") -> Iterator[str]:
    """'the second page', 'the last slide', 'second to last page', 'the first three pages', '第12页'."""
    for match in words.nth.finditer(text):
        number = words.ordinal(match[1])
        yield f"page #{-number if match[2] else number}"
    for match in words.several.finditer(text):
        number = min(words.value(match[2]) or 0, _LONGEST_RANGE)
        step = words.ordinal(match[1])
        yield from (f"page #{step * each}" for each in range(1, number + 1))
    # The counters are of scripts beyond ASCII, and looking for a number in words at each letter takes time.
    for match in () if text.isascii() else words.counted.finditer(text):
        yield "page #-1" if match[1] is None else f"page {words.value(match[1])}"


def _parts(text: str, words: "_Words") -> Iterator[str]:
    """'chapter 3', 'sections 3.2', 'Appendix A', 'the appendix', 'the table of contents', 'the cover'."""
    for match in words.part.finditer(text):
        # "The part I need": a pronoun, not a numeral.
        if match[2] != "I" or not re.match(r"\s+[a-z]", text[match.end() : match.end() + 3]):
            yield from _part_names(match, words)
    for match in words.role.finditer(text):
        # In Turkish letters case is ignored in ways that folding does not undo: such a word is none of ours.
        if (name := words.roles.get(match[0].casefold())) is not None:
            yield name


def _part_names(match: "re.Match[str]", words: "_Words") -> list[str]:
    name = _arabic(match[2].casefold())
    part = words.parts.get(match[1].casefold())
    return [] if name is None or part is None else [f"{part} {name}", *(["appendix"] if part == "appendix" else [])]


@dataclass(frozen=True)
class _Words:
    """The words of all languages with their meanings, and the patterns built from them."""

    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    """Which page each names: 2 is the second, -1 the last."""
    roles: Mapping[str, str]
    """The name of what each stands for in a question, such as 'contents'."""
    headings: Mapping[str, str]
    """The same as headings have them."""
    parts: Mapping[str, str]
    """The name of the part, such as 'chapter', behind which its number stands."""
    kinds: Mapping[str, str]
    """The kind of picture that each word means, such as 'figure' for 'chart'."""
    label: re.Pattern[str]
    pages: re.Pattern[str]
    number: re.Pattern[str]
    ranging: re.Pattern[str]
    nth: re.Pattern[str]
    several: re.Pattern[str]
    counted: re.Pattern[str]
    role: re.Pattern[str]
    part: re.Pattern[str]
    continued: re.Pattern[str]

    def value(self, number: str) -> int | None:
        """The number that digits or a word say; None for Roman numerals, by which pages are labelled."""
        return int(number) if number.isdecimal() else self.numbers.get(number.casefold())

    def ordinal(self, word: str) -> int:
        """Which page 'second', '2nd' or 'last' names."""
        digits = re.match(r"\d+", word)
        found = self.ordinals.get(word.casefold()) or self.ordinals.get(word.casefold()[:-1])
        return int(digits[0]) if digits else found or 1


@cache
def _words() -> _Words:
    text = resources.files(__package__).joinpath("reference_words.toml").read_text("utf-8")
    languages = list(tomllib.loads(text).values())

    def all_of(key: str) -> list[str]:
        return [word for language in languages for word in language.get(key, ())]

    numbers = {word: i for language in languages for i, word in enumerate(language.get("numbers", ()), 1)}
    ordinals = {word: i for language in languages for i, word in enumerate(language.get("ordinals", ()), 1)}
    ordinals |= dict.fromkeys(all_of("last"), -1) | dict.fromkeys(all_of("next_to_last"), -2)
    roles = {word: name for name in ("contents", "references", "appendix") for word in all_of(name)}
    roles |= dict.fromkeys(all_of("cover"), "page #1") | dict.fromkeys(all_of("back"), "page #-1")
    headings = {word: name for name in ("contents", "references", "appendix") for word in all_of(f"{name}_heading")}
    parts = {word.rstrip("."): name for name in ("chapter", "section", "appendix") for word in all_of(name)}
    parts |= {word: word for word in all_of("part")}
    kinds = {word.rstrip("."): kind for kind in _KINDS for word in all_of(kind)}
    page, counter, ranges = alternation(all_of("page")), alternation(all_of("counter")), alternation(all_of("range"))
    number = rf"(?:\d{{1,4}}|(?-i:[ivxl]{{1,6}})|{alternation(numbers)})"
    between = rf"\s*(?:,|&|-|–|\b(?:{alternation([*all_of('range'), *all_of('and')])})\b)\s*(?:\band\s+)?(?:{page}\s*)?"
    ordinal = rf"{alternation(ordinals)}[nrs]?|\d{{1,3}}(?:st|nd|rd|th|e|ª|º|\.(?=\s+(?:seite|folie)))"
    return _Words(
        numbers=numbers,
        ordinals=ordinals,
        roles=roles,
        headings={**roles, **headings},
        parts=parts,
        kinds=kinds,
        label=_label(kinds, [*all_of("and"), ",", "&"]),
        pages=_pattern(rf"(?<![\w.]){page}\s*(?:number\s+|no\.?\s*|#\s*)?({number}\b(?:{between}{number}\b)*)"),
        number=_pattern(rf"\b{number}\b"),
        ranging=_pattern(rf"-|–|\b{ranges}\b"),
        nth=_pattern(rf"(?<!\w)({ordinal})(\s+to\s+last|-to-last)?\s+{page}(?!\w)"),
        several=_pattern(rf"(?<!\w)(first|last)\s+({number})\s+{page}(?!\w)"),
        counted=_pattern(
            rf"(?:第\s*)?(\d{{1,4}}|{alternation(numbers)})\s*{counter}|{alternation(all_of('last'))}{counter}"
        ),
        role=_pattern(_alone(roles)),
        part=re.compile(rf"(?<!\w)((?i:{alternation(parts)}))\.?\s+({_NAME})"),
        continued=_pattern(_alone(all_of("continued"))),
    )


def _label(kinds: Iterable[str], separators: Iterable[str]) -> re.Pattern[str]:
    spaced, unspaced = _by_script(kinds)
    # A Roman numeral or a letter alone stands apart: "Table X", not "tableaux".
    apart = r"(?:(?<![^\W\d_])|(?=[A-Za-z]?[.-]?\d))"
    kind = rf"\b((?i:{alternation(spaced)}))\s*(?:\.\s*)?{apart}|(?:{_NO_WORD_BEFORE})({alternation(unspaced)})\s*"
    # A separator that is a word is followed by a space: "Figure 3 e 4", not "Table 2 e4".
    between = "|".join(re.escape(each) + (r"\s" if each.isalpha() else "") for each in separators)
    return re.compile(rf"(?:{kind})({_LABEL_NAME})((?:\s*(?:{between})\s*{_NUMBER})*)")


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def alternation(words: Iterable[str]) -> str:
    """A regular expression that matches any of these words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word))) + ")"


def _alone(words: Iterable[str]) -> str:
    """A pattern of any of these as a word of its own; those of scripts without spaces may touch others."""
    spaced, unspaced = _by_script(words)
    return rf"(?<!\w){alternation(spaced)}(?!\w)|{alternation(unspaced)}"


def _by_script(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Words of scripts written with spaces, and those of the others."""
    known = list(words)
    return [word for word in known if word < "\u3000"], [word for word in known if word >= "\u3000"]


def _arabic(name: str) -> str | None:
    """A Roman numeral as digits, other names as they are; None for a word that only looks like one ('ill')."""
    if _ROMAN_NUMBER.fullmatch(name):
        values = [_ROMAN[letter] for letter in name]
        return str(sum(-value if value < max(values[i:]) else value for i, value in enumerate(values)))
    return name if len(name) == 1 or not name.isalpha() else None
