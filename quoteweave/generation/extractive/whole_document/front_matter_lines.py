"""What single lines above a document's text say: names of persons, institutions, dates.

The words are data (`front_matter.toml`), of all languages at once.
"""

import re
from collections.abc import Sequence
from functools import cache

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import RAISED
from quoteweave.core.text.whole_document.front_matter_words import front_matter_pattern, front_matter_words
from quoteweave.core.text.whole_document.structure_questions import document_nouns

MAX_NAME = 100
"""The most characters of a person's name."""
MAX_NAME_WORDS = 6
MAX_BEHIND_GIVEN = 2
"""The most words after a common given name in a person's name, besides small words and further given names."""

EMAIL = lazy_regex(r"(?:\{[^{}\s]*(?:,\s+[^{}\s]+)*\}|(?<![\w.+-])[\w.+-]{1,64})@[\w-]+(?:\.[\w-]+)+")
MARKER = lazy_regex(rf"(?<!\d)\d{{1,2}}(?!\d)|[*∗⋆†‡§¶#✉{RAISED}]+")
"""A mark that refers from a name to an institution or a footnote."""
RAISED_LETTER = lazy_regex(r"[^\W\d_]\s+,")
"""Shows that letters which refer to institutions are joined to names: "Gaoa , Yun Xiongb"."""
PREPRINT_STAMP = lazy_regex(r"arxiv:\d", re.IGNORECASE)
_LATER_VERSION = lazy_regex(r"arxiv:\S+v(?!1\b)\d", re.IGNORECASE)
_LED_BY_MARKER = lazy_regex(rf"\s*(?:{MARKER.pattern})")
_RAISED = lazy_regex(rf"(?<=[^\W\d_])(?:{MARKER.pattern})(?!\w)")
_INITIAL = lazy_regex(r"(?<!\S)[^\W\d_]\.\s")
_NAME_WORD = lazy_regex(r"[^\W\d_](?:[^\W\d_]|['’.-])*")


def name_lines(lines: Sequence[str]) -> int:
    """How many lines at the beginning are made of names."""
    return next((at for at, line in enumerate(lines) if not names_in(line)), len(lines))


def leading_names(lines: Sequence[str]) -> list[str]:
    """The persons of the lines at the beginning that are made of names."""
    return [name for line in lines[: name_lines(lines)] for name in names_in(line)]


def names_in(line: str) -> list[str]:
    """The persons of a line that names nothing else, beside addresses."""
    text = MARKER.sub(" , ", EMAIL.sub(" , ", line))
    parts = [" ".join(part.split()) for part in _separator().split(text)]
    names = [part for part in parts if len(part) > 1]
    return names if all(map(_is_name, names)) else []


def _is_name(text: str) -> bool:
    """Whether a text has the form of a person's name: words with capitals and initials, two at least."""
    name_parts = _without_titles(text.split())
    if len(text) > MAX_NAME or not 2 <= len(name_parts) <= MAX_NAME_WORDS or len(name_parts[-1].rstrip(".")) < 2:
        return False
    particles, no_persons = front_matter_words("particles"), front_matter_words("no_persons")
    return (
        all(_begins_large(word) or (at and word in particles) for at, word in enumerate(name_parts))
        and not text.endswith("-")
        and _begins("by").match(text) is None
        and _begins_large(name_parts[-1])
        and no_persons.isdisjoint(word.casefold() for word in name_parts)
        and not any(word.endswith(("'s", "’s")) for word in name_parts)
        and not names_institution(text)
    )


def _begins_large(word: str) -> bool:
    return _NAME_WORD.fullmatch(word) is not None and word[0].isupper()


def _without_titles(name_parts: list[str]) -> list[str]:
    """The words of a name without "Prof. Dr." before it, if any is left."""
    at = next((at for at, word in enumerate(name_parts) if word.casefold() not in front_matter_words("titles")), 0)
    return name_parts[at:]


def byline_persons(lines: Sequence[str]) -> str:
    """The persons that a quote names after "by"; the line as it is written if it may be more than a list of names.

    Empty if the quote does not begin so, if no name follows, or if the next line, which does not continue it, has
    names.
    """
    by = _begins("labelled").match(lines[0]) or _begins("by").match(lines[0])
    if by is None:
        return ""
    end = next((at for at in range(1, len(lines)) if not goes_on(lines[at - 1], lines[at])), len(lines))
    if end < len(lines) and names_in(lines[end]):
        return ""  # another author, or the publisher
    line = _without_last_date(" ".join(lines[:end]))
    text = line[by.end() :].strip()
    if not _begins_with_name(text):
        return ""
    names = names_in(text)
    has_and = any(re.search(r"\w|&", between[0]) for between in _separator().finditer(text))
    is_list = len(names) == 1 or (names and has_and)
    return " ".join(MARKER.sub("", text).split()) if is_list else line


def _without_last_date(line: str) -> str:
    """A line without the date at its end, and without what separates them."""
    *_, last = [None, *re.finditer(rf"(?<!\w){_date()}", line, re.IGNORECASE)]
    if last is None or re.search(r"\w", line[last.end() :]):
        return line
    return line[: last.start()].rstrip(" ,;|·•–—-")


def surely_names_person(line: str) -> bool:
    """Whether a line is labelled as naming authors, or shows by more than capitals that a person follows its "by".

    "By Unanimous Consent" and "Par Lettre Recommandée" have the form of a name, but say how something was done. A date
    shows nothing, because one may follow such a line of a letter, too.
    """
    by = _begins("by").match(line)
    if by is None:
        return _begins("labelled").match(line) is not None
    text = line[by.end() :]
    first, *more_parts = _separator().split(text.replace("(", ", "))
    return (
        shows_person(first)
        or any(map(has_title_or_initial, more_parts))
        or _RAISED.search(text) is not None
        or re.search(rf"[\s,]{front_matter_pattern('after_names')}(?!\w)", text, re.IGNORECASE) is not None
    )


def says_written(line: str) -> bool:
    """Whether a line begins with "written by" or the like, rather than with "by" alone."""
    by = _begins("by").match(line)
    return by is not None and " " in by[0].strip()


def shows_person(name: str) -> bool:
    """Whether a name shows by more than capitals that it is a person's: by "Dr", an initial, or a common given name.

    After a given name, more than two words may be a thing that is named after a person ("Robert Bosch Power Tools").
    """
    first, *more_words = MARKER.sub(" ", name).casefold().split() or [""]
    given_names, family_names = front_matter_words("given_names"), front_matter_words("family_names")
    of_a_person = front_matter_words("particles") | given_names
    is_short = len([word for word in more_words if word not in of_a_person]) <= MAX_BEHIND_GIVEN
    known = first.partition("-")[0] in given_names or not family_names.isdisjoint((first, *more_words[-1:]))
    return has_title_or_initial(name) or (bool(more_words) and known and is_short)


def has_title_or_initial(name: str) -> bool:
    """Whether a name has a title before it, or an initial: "Dr. Ada Brask", "A. Brask"."""
    first = next(iter(name.casefold().split()), "")
    return first in front_matter_words("titles") or _INITIAL.search(name) is not None


def goes_on(line: str, below: str) -> bool:
    """Whether a list of names goes on from one line to the next."""
    separated = any(between.end() == len(line) for between in _separator().finditer(line))
    return separated or _separator().match(below) is not None


def _begins_with_name(text: str) -> bool:
    """Whether the words with capitals that begin a text, up to a comma or a small word, are a person's name."""
    head = _separator().split(MARKER.sub(" , ", text))[0].split()
    particles = front_matter_words("particles")
    end = next((at for at, word in enumerate(head) if not _begins_large(word) and word not in particles), len(head))
    while end and not _begins_large(head[end - 1]):
        end -= 1
    return _is_name(" ".join(head[:end]))


def may_name_another(line: str) -> bool:
    """Whether a line below names is a name, too, or begins with one: "Prof. Lea Holm, University of Tolland"."""
    if led_by_marker(line):
        return False
    return _is_name(line.partition(",")[0]) or bool(names_in(line))


def may_be_title(lines: Sequence[str]) -> bool:
    """Whether lines are in capitals, as those of a title that was not recognised may be."""
    return all(map(str.isupper, lines))


def says_part_of_others(lines: Sequence[str]) -> bool:
    """Whether lines have a word for what others than the author did: "Translated from the German"."""
    return not front_matter_words("of_others").isdisjoint(re.findall(r"\w+", " ".join(lines).casefold()))


def calls_document(lines: Sequence[str]) -> bool:
    """Whether lines say what the document is, and name nobody: "A study of tides", "Version 2"."""
    called = document_nouns() | front_matter_words("versions")
    line_words = re.findall(r"\w+", " ".join(lines).casefold())
    return not called.isdisjoint(line_words) and not any(map(may_name_another, lines))


def led_by_marker(line: str) -> bool:
    """Whether a line begins with a mark to which names refer: "1 University of Tolland"."""
    return _LED_BY_MARKER.match(line) is not None


def is_published(line: str) -> bool:
    """Whether a line says a date of publication, or of a version."""
    return says_date("published", line) or says_date("revised", line)


def says_only_dates(line: str) -> bool:
    """Whether a line says dates and names nobody: "Received 3 May 2018; accepted 2 June 2019"."""
    return re.search(_date(), line, re.IGNORECASE) is not None and not any(map(_is_name, _separator().split(line)))


def is_date(line: str) -> bool:
    """Whether a line is a date alone."""
    return re.fullmatch(rf"\W*{_date()}\W*", line, re.IGNORECASE) is not None


def says_date(key: str, line: str) -> bool:
    """Whether a line says the date of publication, or of a version, by a word of that kind directly before the date.

    A date after other words, or in parentheses, may be that of what these name: "Tariff Act (revised 1999)". A year
    alone counts only after a word with which the line begins.
    """
    if PREPRINT_STAMP.match(line):
        if (key == "published") == (_LATER_VERSION.match(line) is not None):
            return False
        return re.search(rf"{_date()}$", line, re.IGNORECASE) is not None
    return _dated(key).search(line) is not None


def begins_abstract(line: str) -> bool:
    """Whether a line is the heading of a paper's abstract, or begins with it: "Abstract—The tides are"."""
    return re.match(rf"\W*{front_matter_pattern('abstract')}\s*(?:$|[.:—–-])", line, re.IGNORECASE) is not None


def is_heading_of_part(line: str) -> bool:
    """Whether a line is a heading of a part of a document, such as "Foreword"."""
    return line.strip(" .:—–-").casefold() in front_matter_words("parts")


def names_role(line: str) -> bool:
    """Whether a title calls those below it speakers, members or the like."""
    return not front_matter_words("roles").isdisjoint(re.findall(r"\w+", line.casefold()))


def names_institution(line: str) -> bool:
    """Whether a line has a word for an institution of authors, such as "University"."""
    return _institution().search(line) is not None


@cache
def _institution() -> re.Pattern[str]:
    institution_words = sorted(front_matter_words("institutions"))
    ways = (re.escape(word[1:]) if word.startswith("*") else rf"(?<!\w){re.escape(word)}" for word in institution_words)
    return re.compile("|".join(ways), re.IGNORECASE)


@cache
def _separator() -> re.Pattern[str]:
    conjunction = front_matter_pattern("and")
    return re.compile(rf"\s*(?:[,;·•|]|&|(?<!\w){conjunction}(?!\w))\s*", re.IGNORECASE)


@cache
def _begins(key: str) -> re.Pattern[str]:
    return re.compile(rf"{front_matter_pattern(key)}\s{'*' if key == 'labelled' else '+'}", re.IGNORECASE)


@cache
def _date() -> str:
    """A pattern of a date with its month: "3 May 2019", "May 3, 2019", "3. Mai 2019", "le 1er mai 2019", "3/5/2019"."""
    number = r"(?:0?[1-9]|[12]\d|3[01])"
    month, day = front_matter_pattern("months"), rf"(?<!\d){number}(?!\d)(?:st|nd|rd|th|er|[.ºª])?"
    in_figures = rf"{number}([./-])(?:0?[1-9]|1[0-2])\1|(?:0?[1-9]|1[0-2])([./-]){number}\2"
    return (
        rf"(?:\d{{4}}-(?:0[1-9]|1[0-2])-{number}(?!\d)|(?<!\d)(?:{in_figures})\d{{4}}"
        rf"|(?:{day}\s+(?:of\s+|de\s+)?)?(?<!\w){month}\.?(?:\s+{day})?,?\s+(?:de\s+)?\d{{4}}(?!\d))"
    )


@cache
def _dated(key: str) -> re.Pattern[str]:
    key_words, year = front_matter_pattern(key), r"(?:1[5-9]|20)\d\d(?!\w)"
    any_said = rf"(?:{key_words}|{front_matter_pattern('versions')})" if key == "revised" else key_words
    between = rf"(?:\s*:\s*|\s+)(?:{front_matter_pattern('before_date')}\s+)*"
    behind = rf"\s*(?:$|[,;|·•()]|\.(?!\w)|{front_matter_pattern('by')}\s)"
    begun = r"^(?-i:(?=[^\W\d_])(?![a-zß-öø-ÿ]))"  # "Reprint of the novel, first / published 1813"
    return re.compile(
        rf"(?:(?:^|[|·•]\s*|\d{{4}}\s*;\s*){any_said}{between}{_date()}|{begun}{key_words}{between}{year}){behind}",
        re.IGNORECASE,
    )
