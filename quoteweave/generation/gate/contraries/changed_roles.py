"""Find who does a thing in a sentence to whom it is done in its evidence: "B was sued by A" for "B sued A".

Told in English, by the order of words: who acts stands before the verb, or behind "by" where the verb is passive, and
to whom it is done stands right behind a verb that is not passive.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import ARTICLES, STOP_WORDS, stem_of, words
from quoteweave.generation.gate.facts import normalize_notation
from quoteweave.generation.languages import guess_language

MAX_WORDS = 100
"""Words of a sentence beyond which it is not looked at."""

_TOKEN = lazy_regex(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")
_PASSIVE = frozenset({"is", "are", "was", "were", "be", "been", "being"})
_BY = "by"
_SPEECH = frozenset(words("said says asked wrote writes replied added told", keep_stop_words=True))
"""Verbs that whoever acts may stand behind: "said Smith"."""


class ChangedRole(NamedTuple):
    """Two words of a sentence, and the same two as its evidence has them."""

    said: str
    cited: str


class _Sentence(NamedTuple):
    written: tuple[str, ...]
    stems: tuple[str, ...]

    def has(self, *stems: str) -> bool:
        """Whether these words follow each other."""
        return any(self.stems[at : at + len(stems)] == stems for at in range(len(self.stems)))

    def is_passive(self, at: int) -> bool:
        """Whether the verb at a place has a form of "be" before it."""
        return not _PASSIVE.isdisjoint(self.stems[max(at - 2, 0) : at])


@lru_cache(maxsize=1024)  # of what is cited, for each sentence that cites it
def _read(text: str) -> _Sentence:
    found = [one for one in _TOKEN.findall(normalize_notation(text)) if one.casefold() not in ARTICLES]
    # Stop words as they are written, of which forms of "be" would be one stem.
    stems = (one.casefold() if one.casefold() in STOP_WORDS else stem_of(one) for one in found)
    return _Sentence(tuple(found), tuple(stems))


def find_changed_role(statement: str, evidence: str) -> ChangedRole | None:
    """Return a verb of a statement with one who does there what is done to it in its evidence, or the reverse.

    None where there is none, where either is longer than `MAX_WORDS` words, or in another language than English.
    """
    said, cited = _read(statement), _read(evidence)
    if max(len(said.stems), len(cited.stems)) > MAX_WORDS:
        return None
    found = next(_changed(said, cited), None)
    if found is None or guess_language(evidence, sure=False) not in (None, "English"):
        return None
    return found


def _changed(said: _Sentence, cited: _Sentence) -> Iterator[ChangedRole]:
    for at in range(1, len(said.stems) - 1):
        verb, before, behind = said.stems[at], said.stems[at - 1], said.stems[at + 1]
        if verb in _SPEECH or not _tells(verb) or cited.stems.count(verb) == 0:
            continue
        passive = said.is_passive(at)
        if passive and behind == _BY and _is_done_to(cited, verb, actor := _at(said.stems, at + 2)):
            yield _role(said, cited, (verb, _BY, actor), (verb, actor))
        elif not passive and _tells(behind):
            # "Napoleon defeated the British" for "he was defeated by the British"
            if cited.has(verb, _BY, behind) and not cited.has(verb, behind):
                yield _role(said, cited, (verb, behind), (verb, _BY, behind))
            elif _tells(before) and _is_done_to(cited, verb, before):
                yield _role(said, cited, (before, verb), (verb, before))


def _is_done_to(cited: _Sentence, verb: str, one: str) -> bool:
    """Whether one stands right behind a verb that is not passive, and nowhere before it."""
    if not _tells(one) or cited.stems.count(verb) != 1:
        return False
    at = cited.stems.index(verb)
    return _at(cited.stems, at + 1) == one and one not in cited.stems[:at] and not cited.is_passive(at)


def _role(said: _Sentence, cited: _Sentence, own: Sequence[str], its: Sequence[str]) -> ChangedRole:
    return ChangedRole(*(_written(text, stems) for text, stems in ((said, own), (cited, its))))


def _written(text: _Sentence, stems: Sequence[str]) -> str:
    """These words, which follow each other in a text, as it writes them."""
    start = next(at for at in range(len(text.stems)) if text.stems[at : at + len(stems)] == tuple(stems))
    return " ".join(text.written[start : start + len(stems)])


def _at(stems: Sequence[str], at: int) -> str:
    return stems[at] if at < len(stems) else ""


def _tells(stem: str) -> bool:
    return stem[:1].isalpha() and stem not in STOP_WORDS
