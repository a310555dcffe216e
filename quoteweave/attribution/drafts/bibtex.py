"""Writes papers as BibTeX entries, for LaTeX (BibTeX and BibLaTeX) and for Pandoc.

What sources say of papers is untrusted text: all that LaTeX would read as a command is escaped, `$` and `\\` included,
so that formulas in titles are printed as they are written. Letters beyond ASCII stay as they are, in UTF-8.
"""

import re
import unicodedata
from collections.abc import Container, Sequence
from itertools import count
from urllib.parse import quote

from quoteweave.attribution.literature.sources.papers import Paper
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.references.numerals import letters_of_number
from quoteweave.core.text.tokens import STOP_WORDS

_ESCAPED = {
    "\\": r"\textbackslash{}",
    # BibTeX counts braces whatever stands before them, so that \{ alone would leave an entry open.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_"},
}
_ASCII = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORD = lazy_regex(r"[^\W_]+(?:[-'’][^\W_]+)*")
_PREPRINTS = lazy_regex(r"\b(?:arxiv|biorxiv|medrxiv|chemrxiv|ssrn|preprints?|research square|osf)\b", re.IGNORECASE)
_JOURNALS = lazy_regex(
    r"proceedings of the (?:national academy|ieee\b|royal society|vldb|acm on)|\b(?:journal|transactions|letters)\b",
    re.IGNORECASE,
)
_MEETINGS = lazy_regex(
    r"\b(?:conference|proceedings|workshops?|symposium|annual meeting|neural information processing systems|"
    r"neurips|nips|icml|iclr|acl|emnlp|naacl|eacl|coling|cvpr|iccv|eccv|aaai|ijcai|kdd|sigir|interspeech|icassp)\b",
    re.IGNORECASE,
)
_GROUP = lazy_regex(
    r"\b(?:collaboration|consortium|team|group|institute|university|association|organi[sz]ation|ministry|society)\b",
    re.IGNORECASE,
)
MAX_COMMAS = 2
"""Commas that BibTeX reads in a name: `family name, Jr., given name`."""
_LAST_PARTICLE = lazy_regex(r"^(?:[a-zà-ÿ'’]+\s+)+(?=\S)")


def bibtex_keys(papers: Sequence[Paper], used_keys: Container[str] = ()) -> tuple[str, ...]:
    """Return a key for each paper: its first author, its year, and the first word of its title that says something.

    Keys are of ASCII letters and digits; those that would be alike, or are among `used_keys`, have a letter after them.
    """
    keys: dict[str, None] = {}
    for paper in papers:
        wanted = (f"{_key(paper)}{letters_of_number(number)}" for number in count())
        keys[next(key for key in wanted if key not in keys and key not in used_keys)] = None
    return tuple(keys)


def bibtex_entry(paper: Paper, key: str) -> str:
    """Return one entry, which ends with a line break.

    Its type is judged by the name of the venue, as sources do not give one: `inproceedings` for names of conferences,
    `article` for others, `misc` for preprints and papers without a venue. If a document's title is not known, the words
    of its file name stand for it, and the file name itself becomes `howpublished`.
    """
    kind, venue = _kind(paper.venue)
    file = paper.identifiers.get("document") if is_named_by_file(paper) else None
    fields = {
        "title": _title(paper.title if file is None else _file_as_title(file)),
        "author": " and ".join(_author(name) for name in paper.authors if _WORD.search(name)),
        venue: _escaped(_on_one_line(paper.venue or "" if file is None else f"File {file}")),
        "year": "" if paper.published is None else f"{paper.published.year:04}",
        **_identifiers(paper),
    }
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    if paper.published is not None and paper.published.month is not None:
        lines.append(f"  month = {_MONTHS[paper.published.month - 1]},\n")
    return f"@{kind}{{{key},\n{''.join(lines)}}}\n"


def is_named_by_file(paper: Paper) -> bool:
    """Whether a paper is a document whose title is not known, so that the name of its file stands for it."""
    return paper.venue is None and paper.title == paper.identifiers.get("document")


def missing_fields(paper: Paper) -> tuple[str, ...]:
    """Return the fields that an entry should have and that are not known of a paper, by their names in metadata.

    >>> missing_fields(Paper(id="1", title="Grain & Coal", authors=("Ada Reed",)))
    ('year',)
    """
    known = {"title": not is_named_by_file(paper), "authors": bool(paper.authors), "year": paper.published is not None}
    return tuple(name for name, is_known in known.items() if not is_known)


def _file_as_title(name: str) -> str:
    """The name of a file in words, without folders and suffix; the name unchanged if nothing is left of it."""
    stem = re.sub(r"\.\w{1,5}$", "", name.rpartition("/")[2])
    return " ".join(re.split(r"[\s_-]+", stem)).strip() or name


def _identifiers(paper: Paper) -> dict[str, str]:
    """The fields of DOI, arXiv number and URL, which are not escaped, as styles read them verbatim."""
    known = {kind.lower(): value.strip() for kind, value in paper.identifiers.items()}
    doi = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", known.get("doi", ""), flags=re.IGNORECASE)
    arxiv = re.sub(r"^(?:https?://arxiv\.org/(?:abs|pdf)/|arxiv:)", "", known.get("arxiv", ""), flags=re.IGNORECASE)
    url = paper.url or ""
    return {
        "doi": _verbatim(doi),
        "eprint": _verbatim(arxiv),
        "archivePrefix": "arXiv" if arxiv else "",
        "url": _verbatim(url) if url.startswith(("https://", "http://")) else "",
    }


def _kind(venue: str | None) -> tuple[str, str]:
    """The type of an entry, and the field of its venue."""
    if venue is None or not venue.strip():
        return "misc", "howpublished"
    if _PREPRINTS.search(venue):
        return "misc", "howpublished"
    if _MEETINGS.search(venue) and not _JOURNALS.search(venue):
        return "inproceedings", "booktitle"
    return "article", "journal"


def _key(paper: Paper) -> str:
    names = (_folded(_family_name(name)) for name in paper.authors[:1])
    words = [_folded(word) for word in _WORD.findall(paper.title)]
    first = next((word for word in words if word and word not in STOP_WORDS), "")
    year = "" if paper.published is None else str(paper.published.year)
    return f"{''.join(names)}{year}{first}" or "paper"


def _family_name(name: str) -> str:
    """The family name, without the particles before it."""
    family, comma, _ = name.partition(",")
    if _GROUP.search(name):
        return next((word for word in _WORD.findall(name) if word.lower() not in STOP_WORDS), "")
    words = family.split()
    return _LAST_PARTICLE.sub("", family.strip()) if comma else (words[-1] if words else "")


def _folded(text: str) -> str:
    """The text in lower-case ASCII letters and digits; empty where it has none."""
    plain = unicodedata.normalize("NFKD", text.lower().translate(_ASCII))
    return "".join(char for char in plain if char.isascii() and char.isalnum())


def _on_one_line(text: str) -> str:
    """The text without control characters, its words separated by one space."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _escaped(text: str) -> str:
    """The text as LaTeX prints it."""
    return "".join(_ESCAPED.get(char, char) for char in text)


def _title(text: str) -> str:
    """The title, with braces around words such as BERT, arXiv or C4, which styles would write in lower case.

    >>> _title("BERT and the arXiv: A Study")
    '{BERT} and the {arXiv}: A Study'
    """
    text, parts, last = _on_one_line(text), list[str](), 0
    for word in _WORD.finditer(text):
        if any(char.isupper() for char in word[0][1:]) or (word[0][0].isupper() and any(map(str.isdigit, word[0]))):
            parts += [_escaped(text[last : word.start()]), f"{{{_escaped(word[0])}}}"]
            last = word.end()
    return "".join([*parts, _escaped(text[last:])])


def _author(name: str) -> str:
    """A name as BibTeX reads it: groups, and names that it would split wrongly, whole in braces."""
    is_indivisible = _GROUP.search(name) or re.search(r"\band\b", name, re.IGNORECASE) or name.count(",") > MAX_COMMAS
    written = _escaped(_on_one_line(name).strip(" ,"))
    return f"{{{written}}}" if is_indivisible else written


def _verbatim(text: str) -> str:
    """An identifier or URL without characters that would end the field or begin a command."""
    return quote("".join(text.split()), safe="!#$&'()*+,/:;=?@[]-._~%<>")
