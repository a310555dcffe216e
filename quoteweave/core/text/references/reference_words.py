"""The words with which people refer to places in a document, and the patterns of mentions built from them.

The words are data (`reference_words.toml`), by language; `mentions` finds and names what they refer to.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.place_names import LAST, UNREAD, PlaceName
from quoteweave.core.text.references.numerals import HAN_NUMERALS, ROMAN, Numerals
from quoteweave.core.text.word_patterns import MentionPattern, alternation, without_case

NUMBER = r"(?<!\d)\d{1,12}(?:[.-]\d{1,12})*(?!\d)"
# Also "Item 1A", "Table S1", "Figure A.2" and "Exhibit C"; a single letter must be a capital, or "a" would be a name.
_NAME = rf"(?:[A-Za-z][.-]?)?{NUMBER}(?:[A-Za-z]\b)?|(?:[IVXLivxl]+|{ROMAN}|{ROMAN.upper()})\b|[A-Z]\b"
# A single small numeral is an article in some languages: "la figura i dati", "le tableau l'indique".
_LABEL_NAME = (
    rf"(?:[A-Za-z][.-]?)?{NUMBER}|{ROMAN.upper()}\b|(?!.\b){ROMAN}\b|[ivxl]\b(?!['’]|\s+[^\W\d_]{{2}})|[A-Z]\b"
)
# One of several names: "chapters A, III and 5.1".
_LISTED_NAME = rf"(?:[A-Za-z][.-]?)?\d{{1,12}}(?:\.\d{{1,12}})*[A-Za-z]?\b|(?:{ROMAN.upper()}|{ROMAN}|[A-Z])\b(?!['’])"
# What may precede a label in a script without spaces, such as 表3: no other character of it, or one of "see" and "in".
_NO_WORD_BEFORE = "(?<![\u4e00-\u9fff])|(?<=[如见見在从從据據和与與及、])"
# A figure may be called a chart in the question and a figure in its caption, but never a table.
KINDS = ("figure", "table", "algorithm", "box")
_PARTS = ("chapter", "section", "appendix", "part")
_ROLES = ("contents", "references", "appendix")
# The meaning of words that name a place by themselves.
_NAMED = {role: PlaceName(role) for role in _ROLES} | {
    "cover": PlaceName("page", page=1),
    "back": PlaceName("page", page=-1),
    "last_chapter": PlaceName("chapter", LAST),
}
# "Recorded Demonstration", "Terms of Use": capitalised words, with small words between them.
_TITLE = r"[A-Z][\w'’-]*(?:\s+(?:[a-z&]{1,3}\s+){0,2}[A-Z][\w'’-]*){0,7}"
_MARKS = "\"'“”‘’«»„`"
_TO_LAST = r"(?:\s+to)?\s+last|(?:-to)?-last"
# "§5" has no space before its number.
_BEFORE_NAME = r"(?:\.?\s+|(?<=§))"
# In "A 30 second session", "second" is not an ordinal.
_BEFORE_ORDINAL = r"(?<![\w-])(?<!\d\s)"


@dataclass(frozen=True)
class ReferenceWords:
    """The words of all languages with their meanings, and the patterns built from them."""

    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    """The page that each word names: 2 for the second, -1 for the last."""
    roles: Mapping[str, PlaceName]
    """The name that each word stands for in a question, such as 'contents'."""
    headings: Mapping[str, PlaceName]
    """The same for the words in headings."""
    parts: Mapping[str, str]
    """The part that each word names, such as 'chapter', if its number follows."""
    plurals: Mapping[str, str]
    """The same for words after which several numbers follow, such as 'chapters'."""
    kinds: Mapping[str, str]
    """The kind of picture that each word means, such as 'figure' for 'chart'."""
    patterns: Mapping[str, MentionPattern]
    """The pattern of each kind of mention."""
    before_pronoun: Mapping[str, frozenset[str]]
    """For words for parts in languages with a pronoun "I": the words that may follow the numeral "I"."""
    numerals: Numerals
    """The number words beyond `numbers` and `ordinals`."""

    def value(self, number: str) -> int | None:
        """The number that digits or a word mean; None for a page label such as 'iv' or 'F-3'."""
        return int(number) if number.isdecimal() else self.numbers.get(without_case(number))

    def ordinal(self, word: str) -> int:
        """The page that 'second', '2nd' or 'last' names."""
        digits = re.match(r"\d+", word)
        known = without_case(word)
        position = self.ordinals.get(known) or self.ordinals.get(known[:-1])
        return int(digits[0]) if digits else position or 1


@cache
def reference_words() -> ReferenceWords:
    """Read the words of all languages."""
    tables = _LanguageTables(languages := list(shipped_toml(__package__, "reference_words.toml").values()))
    numbers, ordinals = tables.counted("numbers"), tables.counted("ordinals") | tables.counted("masculine")
    for from_end, key in enumerate(("last", "next_to_last", "third_to_last"), 1):
        ordinals |= dict.fromkeys(tables.all_of(key), -from_end)
    roles = {word: name for key, name in _NAMED.items() for word in tables.all_of(key)}
    ending = dict.fromkeys(tables.all_of("contents_ending"), PlaceName("contents"))
    roles |= ending
    headings = dict.fromkeys(tables.all_of("uncounted_heading"), PlaceName("chapter", UNREAD))
    headings |= {word: PlaceName(name) for name in _ROLES for word in tables.all_of(f"{name}_heading")}
    parts = {word.rstrip("."): name for name in ("chapter", "section", "appendix") for word in tables.all_of(name)}
    parts |= {word: word for word in tables.all_of("part")}
    counters = {word: name for name in ("chapter", "section", "part") for word in tables.all_of(f"{name}_counter")}
    kinds = {word.rstrip("."): kind for kind in KINDS for word in tables.all_of(kind)}
    return ReferenceWords(
        numbers=numbers,
        ordinals=ordinals | tables.counted("before_noun"),
        roles=roles,
        headings={**roles, **headings},
        parts={**parts, **counters},
        plurals={word: parts[word] for word in tables.all_of("plural_part")} | tables.plurals(),
        kinds=kinds,
        before_pronoun=tables.before_pronoun(),
        numerals=Numerals(languages),
        patterns={
            **_patterns_of_pages(tables, numbers, ordinals),
            **_patterns_of_parts(tables, ordinals, parts=parts, counters=counters, roles=roles),
            "label": _label(kinds, [*tables.all_of("and"), ",", "&"]),
            "worded label": _worded_label(tables),
            # Matches "En el índice?", but not "en el índice de precios".
            "role": _pattern(
                rf"{_alone(roles.keys() - ending)}|(?<!\w){alternation(ending)}(?=\s*(?:[^\w\s]|\Z))", roles
            ),
            "titled appendix": _titled_appendix(tables.all_of("appendix")),
            "continued": _pattern(_alone(tables.all_of("continued")), tables.all_of("continued")),
        },
    )


class _LanguageTables:
    """The tables of some languages: all their entries under a key, as a list or as a pattern."""

    def __init__(self, languages: list[dict[str, Any]]) -> None:
        self._languages = languages

    def all_of(self, key: str) -> list[str]:
        """The words under a key in all languages."""
        return [word for language in self._languages for words in language.get(key, ()) for word in words.split("|")]

    def plurals(self) -> dict[str, str]:
        """The words for several parts, with the word for one."""
        return dict(zip(self.all_of("part_plural"), self.all_of("part"), strict=True))

    def before_pronoun(self) -> dict[str, frozenset[str]]:
        """The words for parts in languages with a pronoun "I", each with the words that can join it to another part."""
        joining_by_part: dict[str, set[str]] = {}
        for language in self._languages:
            joining = {word.split()[0] for key in ("of", "within") for word in language.get(key, ())}
            for part in (word for key in _PARTS for word in language.get(key, ())):
                joining_by_part.setdefault(part, set()).update(joining)
        speaking = _LanguageTables([language for language in self._languages if language.get("has_pronoun_i")])
        return {part: frozenset(joining_by_part[part]) for key in _PARTS for part in speaking.all_of(key)}

    def counted(self, key: str) -> dict[str, int]:
        """The numbers of the words under a key in all languages, counted from 1 in each language."""
        return {
            word: i
            for language in self._languages
            for i, words in enumerate(language.get(key, ()), 1)
            for word in words.split("|")
        }

    def by_language(self, *keys: str, having: str = "numbers") -> "Iterator[tuple[str, _LanguageTables]]":
        """Patterns of words under these keys, each with the tables of its languages, if these have the key `having`.

        Words beside each other must be of one language: "once" is 11 only after "capítulo", "of" is Dutch for "or".
        """
        groups: dict[tuple[int, ...], list[str]] = {}
        for word in sorted({word for key in keys for word in self.all_of(key)}):
            having_it = (
                i for i, language in enumerate(self._languages) if any(word in language.get(key, ()) for key in keys)
            )
            groups.setdefault(tuple(having_it), []).append(word)
        for languages, words in groups.items():
            group_tables = _LanguageTables([self._languages[i] for i in languages])
            if group_tables.all_of(having):
                yield alternation(words), group_tables

    def either(self, *keys: str) -> str:
        """A regular expression of any of the words under these keys."""
        return alternation(word for key in keys for word in self.all_of(key))


def _patterns_of_pages(
    tables: _LanguageTables, numbers: Mapping[str, int], ordinals: Mapping[str, int]
) -> dict[str, MentionPattern]:
    page, pages, ordinal = tables.either("page"), tables.all_of("page"), _ordinal(tables, ordinals)
    # "page F-3" and "page IV" as printed; a single "I" is a pronoun.
    plain = rf"\d{{1,4}}|(?-i:[A-Z]-?\d{{1,4}})|(?-i:{ROMAN}\b)|(?-i:(?!.\b){ROMAN.upper()}\b)"
    # In "Pages II to V"; a single "V" may be anything else.
    listed = rf"{plain}|(?-i:[VXL])(?![-.'’])"
    numbered = "|".join(
        rf"{words}\s*(?:{tables.either('numbered')}\s*|#\s*)?"
        rf"((?>(?:{plain}|{number})\b)(?:{_between(language_tables, page)}(?>(?:{listed}|{number})\b))*)"
        for words, language_tables in tables.by_language("page")
        for number in [language_tables.either("numbers")]
    )
    article = r"(?:[^\W\d_]{1,3}\s+)?"
    several = rf"(?:{ordinal}(?:\s*,\s*|\s*&\s*|\s+{tables.either('and')}\s+){article}){{0,5}}{ordinal}"
    ends = rf"(?:{alternation(word for word, at in ordinals.items() if at in (1, -1))}[nrs]?)"
    count = rf"(?:\d{{1,4}}|{alternation(numbers)})"
    from_end = rf"(?:\s+(?:(?P<from_end>{tables.either('from_end')})|{tables.either('but')}\s+(?P<but>{count})\b))?"
    before_last = rf"{tables.either('before_last')}(?:\s+{page})?(?=\s*(?:[^\w\s]|\Z))"
    uncounted = "".join(tables.all_of("not_counted"))
    return {
        "pages": _pattern(rf"(?<![\w.])(?={page})(?:{numbered})", pages),
        "page number": _pattern(rf"\b(?:{listed}|{alternation(numbers)})\b"),
        "ranging": _pattern(rf"-|–|\b{tables.either('range')}\b"),
        "nth": _pattern(
            rf"{_BEFORE_ORDINAL}(?P<several>{several})(?P<to_last>{_TO_LAST})?\s+{page}(?!\w){from_end}", pages
        ),
        "each ordinal": _pattern(rf"(?<![\w-]){ordinal}"),
        "several": _pattern(rf"(?<![\w-])(?:({ends})\s+({count})|({count})\s+({ends}))\s+{page}(?!\w)", pages),
        "before last": _pattern(rf"(?<!\w){page}\s+{before_last}", pages),
        "counted": _pattern(
            rf"(?:(?P<to_last>{tables.either('to_last_counted')})|(?P<first>{tables.either('first_counted')})"
            rf"|(?P<last>{tables.either('last_counted')}))?(?<![{HAN_NUMERALS}{uncounted}])(?:第\s*)?"
            rf"(?P<number>\d{{1,4}}|{alternation(numbers)})\s*{tables.either('counter')}",
            tables.all_of("counter"),
        ),
    }


def _between(tables: _LanguageTables, again: str = "") -> str:
    """What may stand between two numbers of a list in a language; `again` is the word for what is listed."""
    joining, ranging = tables.either("and"), tables.either("range", "and")
    again = rf"(?:{again}\s*)?" if again else ""
    return rf"\s*(?:,|&|-|–|\b(?i:{ranging})\b)\s*(?:\b(?i:{joining})\s+)?{again}"


def _patterns_of_parts(
    tables: _LanguageTables,
    ordinals: Mapping[str, int],
    *,
    parts: Mapping[str, str],
    counters: Iterable[str],
    roles: Iterable[str],
) -> dict[str, MentionPattern]:
    numbers, each_part = tables.either("numbers"), alternation(parts)
    ordinal = _ordinal_of_part(tables, ordinals)
    titled = [word for word, part in parts.items() if part in _PARTS]
    named = _part_with_number(tables, parts)
    # "The last chapter but one" is not the last chapter.
    from_end = rf"(?:\s+(?:{tables.either('from_end')}|{tables.either('but')}\s+(?:\d+|{numbers})\b))"
    nth = rf"(?i:(?:{ordinal})(?:{_TO_LAST})?\s+{each_part}{from_end}?)"
    part_of = rf"(?P<part>(?i:{each_part}))"
    return {
        **_patterns_of_lists(tables, numbers),
        **_patterns_within_parts(tables, rf"{named}|{nth}", parts, roles),
        "part": MentionPattern(
            rf"(?<!\w)(?=(?i:{each_part}))(?={named}){part_of}{_BEFORE_NAME}(?P<name>{_NAME}|(?i:{numbers})\b)",
            parts,
        ),
        "unread part": MentionPattern(rf"{part_of}\.?\s+\w+_", parts),
        "nth part": _pattern(
            rf"{_BEFORE_ORDINAL}(?P<name>{ordinal})(?P<to_last>{_TO_LAST})?\s+{part_of}(?!\w)(?P<from_end>{from_end})?",
            parts,
        ),
        "titled part": MentionPattern(
            rf"(?<=[\w,] )[{_MARKS}]?({_TITLE})[{_MARKS}]?\s+(?i:{alternation(titled)})(?!\w)", titled
        ),
        "counted part": MentionPattern(
            rf"第\s*(?P<name>\d{{1,3}}|{numbers})\s*(?P<part>{alternation(counters)})", "第"
        ),
    }


def _patterns_within_parts(
    tables: _LanguageTables, named: str, parts: Iterable[str], roles: Iterable[str]
) -> dict[str, MentionPattern]:
    """Patterns of where a part begins and ends, and of what belongs to it; `named` is a part with its number."""
    unnumbered = rf"(?i:{tables.either('appendix')}|{alternation(roles)})"
    mention = rf"(?:[^\W\d_]{{1,3}}\s+)?(?P<part>{named}|{unnumbered})(?!\w)"
    begins, ends = (rf"(?i:{tables.either(key)})" for key in ("begins", "ends"))
    # Matches "What is chapter 6 about?", but not "the paragraph about chapter 6".
    is_about = rf"(?i:{tables.either('is_about')})(?=\s*(?:[^\w\s]|\Z))"
    of, within = tables.either("of"), tables.either("of", "within")
    having = {*parts, *tables.all_of("appendix"), *roles}
    return {
        "of part": MentionPattern(rf"\s*(?i:{of})\s*{mention}"),
        "within part": MentionPattern(rf"\s*(?i:{within})\s*{mention}"),
        "limits": _pattern(rf"\s+(?:{begins}|{ends}|{is_about})(?!\w)"),
        "part begins": _limit(begins, rf"{begins}|{is_about}", within, mention, having),
        "part ends": _limit(ends, ends, within, mention, having),
    }


def _patterns_of_lists(tables: _LanguageTables, numbers: str) -> dict[str, MentionPattern]:
    """Patterns of several parts, "chapters 3 and 5 to 7", and of each number in them."""
    several = [*tables.all_of("plural_part"), *tables.all_of("part_plural")]
    listed = "|".join(
        rf"(?i:{words})\s+({listed_name}(?:{_between(language_tables)}{listed_name})+)"
        for words, language_tables in tables.by_language("plural_part", "part_plural")
        for pronoun in [
            rf"[Ii]\s+(?!(?i:{language_tables.either('range', 'and')})\s+(?:{ROMAN.upper()}|{ROMAN}|\d+)\b)[a-z]"
        ]  # a pronoun, as in "3 and I think"
        # Atomic: if each name in "A-1-A-1-" had several readings, a list would have more of them than can be tried.
        for listed_name in [rf"(?>(?!{pronoun})(?:{_LISTED_NAME})|(?i:{language_tables.either('numbers')})\b)"]
    )
    return {
        "parts": MentionPattern(rf"(?<!\w)(?=(?P<part>(?i:{alternation(several)}))\b)(?:{listed})(?![\w-])", several),
        "part number": MentionPattern(rf"\b(?:{_LISTED_NAME}|(?i:{numbers})\b)"),
    }


def _limit(before: str, behind: str, of: str, mention: str, having: Iterable[str]) -> MentionPattern:
    """A part with a word before or after: "Where does part two end", "wo endet Kapitel 3", "the end of chapter 3"."""
    first = mention.replace("<part>", "<first>")
    return MentionPattern(rf"(?<!\w){before}\s+(?:{of}\s+)?{mention}|(?<!\w){first}\s+(?:{behind})(?!\w)", having)


def _part_with_number(tables: _LanguageTables, parts: Iterable[str]) -> str:
    # "In which part one finds it" has no number.
    not_asked = "".join(rf"(?<!\b{word}\s)" for word in tables.all_of("which"))
    worded = "|".join(
        rf"{words}\.?\s+{language_tables.either('numbers')}\b" for words, language_tables in tables.by_language(*_PARTS)
    )
    # Not a numeral: "In parte i costi", "en partie l'effet", "a parte dos navios"; but "parte dos del libro" is one.
    of = set(tables.all_of("share_of"))
    small = rf"(?:[ivxl]|[lv]i|(?i:{alternation(of.intersection(tables.all_of('numbers')))}))"
    article = rf"(?i:{tables.either('share')}\s+){small}(?:['’]|\s+(?!(?i:{alternation(of)})(?!\w))[^\W\d_])"
    return rf"(?!{article})(?:(?i:{alternation(parts)}){_BEFORE_NAME}(?:{_NAME})|(?i:{not_asked}(?:{worded})))"


def _ordinal(tables: _LanguageTables, ordinals: Iterable[str]) -> str:
    full_stop = rf"\.(?=\s+{tables.either('ordinal_full_stop')}(?![\w-]))"
    return rf"(?:{alternation(ordinals)}[nrs]?|\d{{1,3}}(?:st|nd|rd|th|e|ª|º|{full_stop}))"


def _ordinal_of_part(tables: _LanguageTables, ordinals: Iterable[str]) -> str:
    """Like `_ordinal`; also "el primer capítulo", not "the primer chapter", "quarto parte", "tercera parte de ella"."""
    shortened, share = tables.by_language(*_PARTS, having="before_noun"), tables.either("share")
    known = [
        _ordinal(tables, ordinals),
        *(rf"{language_tables.either('before_noun')}(?=\s+{words})" for words, language_tables in shortened),
    ]
    unlike = rf"(?!{tables.either('masculine', 'before_noun')}\s+{share}(?!\w))"
    document = rf"\s*(?:[^\W\d_]{{1,15}}(?:\s+|['’])){{0,2}}{tables.either('document')}(?!\w)"
    of = rf"{tables.either('share_of')}(?:(?<=['’])|(?!\w))"
    return rf"{unlike}(?:{'|'.join(known)})(?!\s+{share}\s+{of}(?!{document}))"


def _worded_label(tables: _LanguageTables) -> MentionPattern:
    """A label such as "figure two", unless a noun follows: "In the chart two lines cross"."""
    behind = rf"(?!\w|\s+(?!{tables.either('said_of_places')}\b)[^\W\d_]+s\b)"
    worded = "|".join(
        rf"{words}\s+{language_tables.either('numbers')}" for words, language_tables in tables.by_language(*KINDS)
    )
    kind, number = tables.either(*KINDS), tables.either("numbers")
    return _pattern(
        rf"(?<!\w)(?={kind})(?=(?:{worded}){behind})({kind})\s+({number}){behind}",
        [word for picture_kind in KINDS for word in tables.all_of(picture_kind)],
    )


def _label(kinds: Iterable[str], separators: Iterable[str]) -> MentionPattern:
    spaced, unspaced = _by_script(kinds)
    # A single Roman numeral or letter is separated from the word: "Table X", not "tableaux".
    apart = r"(?:(?<![^\W\d_])|(?=[A-Za-z]?[.-]?\d))"
    kind = rf"\b((?i:{alternation(spaced)}))\s*(?:\.\s*)?{apart}|(?:{_NO_WORD_BEFORE})({alternation(unspaced)})\s*"
    # A separator that is a word needs a space after it: "Figure 3 e 4", not "Table 2 e4".
    between = "|".join(re.escape(separator) + (r"\s" if separator.isalpha() else "") for separator in separators)
    return MentionPattern(rf"(?:{kind})({_LABEL_NAME})((?:\s*(?:{between})\s*{NUMBER})*)", [*spaced, *unspaced])


def _titled_appendix(appendix: Iterable[str]) -> MentionPattern:
    """Matches the beginning of "Appendix: Technical data", "Anhang – Tabellen" and 附录 数据."""
    spaced, unspaced = _by_script(appendix)
    return _pattern(rf"{alternation(spaced)}\s*[:.–—-]\s+(?=[^\W\d_])|{alternation(unspaced)}", [*spaced, *unspaced])


def _pattern(text: str, having: Iterable[str] = ("",)) -> MentionPattern:
    return MentionPattern(text, having, flags=re.IGNORECASE)


def _alone(words: Iterable[str]) -> str:
    """A pattern of any of these as whole words; words of scripts without spaces may touch others."""
    spaced, unspaced = _by_script(words)
    return rf"(?<!\w){alternation(spaced)}(?!\w)|{alternation(unspaced)}"


def _by_script(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """The words of scripts that are written with spaces, and the other words."""
    known = list(words)
    return [word for word in known if word < "\u3000"], [word for word in known if word >= "\u3000"]
