"""Find where a sentence exchanges who acts and who is acted on: "B was sued by A" for "B sued A".

The order of words shows this, in English: the one who acts stands before the verb, or behind "by" if the verb is
passive; the one acted on stands right behind a verb that is not passive.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import ARTICLES, STOP_WORDS, stem_of, words
from quoteweave.generation.gate.contraries.lengths import are_comparable
from quoteweave.generation.gate.facts import Difference, normalize_notation
from quoteweave.generation.languages import guess_language

_TOKEN = lazy_regex(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")
_PASSIVE = frozenset({"is", "are", "was", "were", "be", "been", "being"})
_BY = "by"
_SPEECH = frozenset(words("said says asked wrote writes replied added told", keep_stop_words=True))
"""Verbs behind which the one who acts may stand: "said Smith"."""


class _Sentence(NamedTuple):
    written: tuple[str, ...]
    stems: tuple[str, ...]

    def has(self, *stems: str) -> bool:
        """Whether these words follow each other."""
        return any(self.stems[at : at + len(stems)] == stems for at in range(len(self.stems)))

    def is_passive(self, at: int) -> bool:
        """Whether the verb at a place has a form of "be" before it."""
        return not _PASSIVE.isdisjoint(self.stems[max(at - 2, 0) : at])


def find_changed_role(statement: str, evidence: str) -> Difference | None:
    """Return a verb and the one who acts in the statement but is acted on in its evidence, or the reverse.

    None if there are none, if the texts are too long (`are_comparable`), or if the evidence is not in English.
    """
    if not are_comparable(statement, evidence):
        return None
    change = next(_changed(_read(statement), _read(evidence)), None)
    if change is None or guess_language(evidence, sure=False) not in (None, "English"):
        return None
    return change


@lru_cache(maxsize=1024)  # several sentences may cite the same evidence
def _read(text: str) -> _Sentence:
    tokens = [token for token in _TOKEN.findall(normalize_notation(text)) if token.casefold() not in ARTICLES]
    # Stop words are not stemmed, as that would make forms of "be" equal.
    stems = (token.casefold() if token.casefold() in STOP_WORDS else stem_of(token) for token in tokens)
    return _Sentence(tuple(tokens), tuple(stems))


def _changed(statement: _Sentence, evidence: _Sentence) -> Iterator[Difference]:
    for at in range(1, len(statement.stems) - 1):
        verb, before, behind = statement.stems[at], statement.stems[at - 1], statement.stems[at + 1]
        if verb in _SPEECH or not _tells(verb) or evidence.stems.count(verb) == 0:
            continue
        passive = statement.is_passive(at)
        if passive and behind == _BY and _is_done_to(evidence, verb, actor := _at(statement.stems, at + 2)):
            yield _role(statement, evidence, (verb, _BY, actor), (verb, actor))
        elif not passive and _tells(behind):
            # The statement says "Napoleon defeated the British", the evidence "he was defeated by the British".
            if evidence.has(verb, _BY, behind) and not evidence.has(verb, behind):
                yield _role(statement, evidence, (verb, behind), (verb, _BY, behind))
            elif _tells(before) and _is_done_to(evidence, verb, before):
                yield _role(statement, evidence, (before, verb), (verb, before))


def _is_done_to(evidence: _Sentence, verb: str, stem: str) -> bool:
    """Whether a thing stands right behind a verb that is not passive, and nowhere before it."""
    if not _tells(stem) or evidence.stems.count(verb) != 1:
        return False
    at = evidence.stems.index(verb)
    return _at(evidence.stems, at + 1) == stem and stem not in evidence.stems[:at] and not evidence.is_passive(at)


def _role(statement: _Sentence, evidence: _Sentence, stated: Sequence[str], cited: Sequence[str]) -> Difference:
    return Difference(_written(statement, stated), _written(evidence, cited))


def _written(text: _Sentence, stems: Sequence[str]) -> str:
    """These successive words of a text as the text writes them."""
    start = next(at for at in range(len(text.stems)) if text.stems[at : at + len(stems)] == tuple(stems))
    return " ".join(text.written[start : start + len(stems)])


def _at(stems: Sequence[str], at: int) -> str:
    return stems[at] if at < len(stems) else ""


def _tells(stem: str) -> bool:
    return stem[:1].isalpha() and stem not in STOP_WORDS
