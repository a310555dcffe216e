"""Split answers into sentences with the position of each citation mark, and these into atomic claims.

Marks are those of `core.text.marks`. A mark at the beginning of a sentence belongs to the one before ("Cups are of
glass. [1] They break."), as in ALiiCE's code (arXiv 2406.13375).

A sentence with several citations is split into the atomic claims that they support, as in that paper. A citation
belongs to the word that it follows. The claim of a cited word is what is left of the sentence's dependency tree after
it was separated from each other cited word in turn, in order. With `lca` as the lowest common ancestor of two words,
and the *branch* of each word as the child of `lca` that leads to it:

    lca is the word itself   the other's branch is pruned
    lca is the other         the word's branch replaces it
    lca is a third word      depends on whether a conjunction or comma, their joint, stands between the branches:
        joint, word first    the other's branch is pruned
        joint, word second   the word's branch replaces the root; below any other lca, only this branch stays
        joint, and the first branch is a clause (`prep`, `advcl`) that begins the sentence, directly below its root: as
                             if the first word were second, and the other way round
        no joint             the word's branch replaces the root; below any other lca, the other's branch is pruned

So "Cups can be made of glass [1] or plastic [2]" claims "Cups can be made of glass" and "Cups can be made of plastic".

What joined a pruned branch is pruned with it, and the root is replaced like any other word. The authors' code does not
always do either: it leaves the "or" in the first claim, and prunes nothing if the other cited word has become the root.
It also parses sentences without punctuation.
"""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quoteweave.core.errors import MissingExtra, ModelNotFound
from quoteweave.core.examples import Prediction
from quoteweave.core.records import Kind
from quoteweave.core.text.marks import Mark, parse_marks
from quoteweave.evaluation.text.responses import answer_of
from quoteweave.evaluation.text.source_marks import without_gaps

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


Item = tuple[Kind, int]
"""A quote as named by marks: kind, and position in the context from 1."""
SentenceSplitter = Callable[[str], Sequence[str]]
"""Splits a text into sentences, with marks in place."""

_BLANKS_AND_STOPS = " .,;\t\n"


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """One mark of a sentence."""

    start: int
    """The position of its first character in the sentence with marks."""
    before: int
    """How many characters of the sentence without marks are before it, not counting blanks."""
    cited: tuple[Item, ...]
    """The cited items, each once."""


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence with its marks, and without them."""

    marked: str
    text: str
    """The sentence without marks, but with the summaries of image marks. May be empty."""
    marks: tuple[PlacedMark, ...]

    @property
    def cited(self) -> tuple[Item, ...]:
        """The cited items, each once, in the order of first mention."""
        return tuple(dict.fromkeys(item for mark in self.marks for item in mark.cited))


def marked_sentences(prediction: Prediction, split_sentences: SentenceSplitter) -> list[MarkedSentence]:
    """The sentences of the answer in a response; none without a response."""
    sentences: list[str] = []
    for sentence in split_sentences(answer_of(prediction.response or "", "own")):
        opening = _opening(sentence) if sentences else 0
        rest = sentence
        if opening:
            sentences[-1] += sentence[:opening].strip()
            rest = sentence[opening:].lstrip(_BLANKS_AND_STOPS)
        if rest:
            sentences.append(rest)
    return [_read_marks(sentence) for sentence in sentences]


def _opening(sentence: str) -> int:
    """The end of the marks at the beginning of the sentence; 0 if there are none."""
    end = 0
    for mark in parse_marks(sentence):
        if mark.summary or sentence[end : mark.start].strip(_BLANKS_AND_STOPS):
            break
        end = mark.end
    return end


def _read_marks(sentence: str) -> MarkedSentence:
    parts: list[str] = []
    marks: list[PlacedMark] = []
    before = end = 0
    for mark in parse_marks(sentence):
        pieces = [sentence[end : mark.start], _replacement(mark, sentence)]
        parts += pieces
        before += sum(len(word) for part in pieces for word in part.split())
        marks.append(PlacedMark(mark.start, before, tuple((mark.kind, number) for number in mark.numbers)))
        end = mark.end
    text = without_gaps("".join([*parts, sentence[end:]]))
    return MarkedSentence(marked=sentence, text=text, marks=tuple(marks))


def _replacement(mark: Mark, sentence: str) -> str:
    if mark.summary:
        return f" {mark.summary} "
    between = sentence[max(mark.start - 1, 0) : mark.start] + sentence[mark.end : mark.end + 1]
    return " " if len(between) == 2 and between.isalnum() else ""


DependencyParser = Callable[[Sequence[str]], "Iterable[Doc]"]
"""Returns the trees of sentences, in order, such as spaCy's `nlp.pipe`."""

MODEL = "en_core_web_sm"
MAX_SENTENCE_WORDS = 50
"""The most words of a sentence that is parsed: the authors found that trees of longer ones are too often wrong."""
_CLAUSES = frozenset({"prep", "advcl"})
_ATTACHED = frozenset(".,;:!?%)]}…”’»")


@dataclass(frozen=True, slots=True)
class AtomicClaim:
    """A claim to which some marks of a sentence belong."""

    text: str
    marks: tuple[int, ...]
    """Positions of these marks among those of the sentence."""


def spacy_parse(model: str = MODEL) -> DependencyParser:
    """A parser by spaCy, loaded now. Raises MissingExtra, and ModelNotFound if the model is not installed."""
    try:
        import spacy
    except ModuleNotFoundError as error:
        raise MissingExtra("spacy", "citations") from error
    try:
        return spacy.load(model).pipe
    except OSError as error:
        raise ModelNotFound(
            f"spaCy has no model {model}; install it with: python -m spacy download {model}, or name another"
        ) from error


def atomic_claims(doc: "Doc", marks: Sequence[int]) -> list[AtomicClaim] | None:
    """A claim for each cited word, in the order of the sentence; None if the tree fails.

    `doc` is a sentence without its marks, `marks` how many of its characters are before each mark, not counting blanks.
    If all marks are at one word, the sentence is the claim. A tree fails if it has no dependencies, several roots, more
    than `MAX_SENTENCE_WORDS` words or a citation at its root, or if the sentence has no words.
    """
    at_word: dict[int, list[int]] = {}
    for position, word in enumerate(_cited_words(doc, marks)):
        at_word.setdefault(word, []).append(position)
    if len(at_word) == 1:
        return [AtomicClaim(doc.text.strip(), tuple(range(len(marks))))]
    if not at_word or not _has_usable_tree(doc) or any(doc[word].head.i == word for word in at_word):
        return None
    claims = []
    for word, places in sorted(at_word.items()):
        tree = _Tree(doc)
        for other in at_word:
            if other != word and other in tree.heads:
                _separate(tree, word, other)
        claims.append(AtomicClaim(_text_of(doc, tree.heads), tuple(places)))
    return claims


def _cited_words(doc: "Doc", marks: Sequence[int]) -> list[int]:
    """For each mark the last word that begins before it, or else the first word; nothing if there are no words."""
    words: list[int] = []
    starts: list[int] = []
    length = 0
    for token in doc:
        if _is_word(token):
            words.append(token.i)
            starts.append(length)
        length += len("".join(token.text.split()))
    return [words[max(bisect_left(starts, before) - 1, 0)] for before in marks] if words else []


def _is_word(token: "Token") -> bool:
    return any(character.isalnum() for character in token.text)


def _has_usable_tree(doc: "Doc") -> bool:
    roots = sum(token.head.i == token.i for token in doc)
    words = sum(map(_is_word, doc))
    return doc.has_annotation("DEP") and roots == 1 and words <= MAX_SENTENCE_WORDS


class _Tree:
    """A dependency tree that can be pruned; nodes are positions of tokens in the sentence."""

    def __init__(self, doc: "Doc") -> None:
        self.heads = {token.i: None if token.head.i == token.i else token.head.i for token in doc}
        self._deps = {token.i: token.dep_ for token in doc}
        self._commas = {token.i for token in doc if token.text == ","}

    def path(self, token: int) -> list[int]:
        """The path from the token up to the root."""
        path = [token]
        while (head := self.heads[path[-1]]) is not None:
            path.append(head)
        return path

    def children(self, token: int) -> list[int]:
        return [child for child, head in self.heads.items() if head == token]

    def joints(self, token: int, first: int, second: int) -> list[int]:
        """Children of `token` between two others, which they join."""
        between = range(min(first, second) + 1, max(first, second))
        joining = (child for child in self.children(token) if child in self._commas or self._deps[child] == "cc")
        return [child for child in joining if child in between]

    def opens(self, branch: int) -> bool:
        """Whether the branch is a clause at the beginning of the sentence."""
        return self._deps[branch] in _CLAUSES and 0 in self.heads and branch in self.path(0)

    def prune(self, *branches: int) -> None:
        """Remove these tokens and all below them."""
        below = [token for token in self.heads if not set(branches).isdisjoint(self.path(token))]
        for token in below:
            del self.heads[token]

    def replace(self, token: int, branch: int) -> None:
        """Put a branch of `token` in its place, and remove everything else below it."""
        self.heads[branch], self._deps[branch] = self.heads[token], self._deps[token]
        self.prune(token)


def _separate(tree: _Tree, word: int, other: int) -> None:
    """Remove from the tree what belongs to the other word."""
    up, across = tree.path(word), tree.path(other)
    lca = next(token for token in up if token in across)
    if lca == word:
        other_branch = across[across.index(lca) - 1]
        tree.prune(other_branch, *tree.joints(lca, word, other_branch))
    elif lca == other:
        tree.replace(lca, up[up.index(lca) - 1])
    else:
        _separate_branches(tree, lca, up[up.index(lca) - 1], across[across.index(lca) - 1])


def _separate_branches(tree: _Tree, lca: int, word_branch: int, other_branch: int) -> None:
    joints = tree.joints(lca, word_branch, other_branch)
    at_root = tree.heads[lca] is None
    clause_first = at_root and tree.opens(min(word_branch, other_branch))
    if joints and (word_branch < other_branch) != clause_first:
        tree.prune(other_branch, *joints)
    elif at_root:
        tree.replace(lca, word_branch)
    elif joints:
        tree.prune(*(child for child in tree.children(lca) if child != word_branch))
    else:
        tree.prune(other_branch)


def _text_of(doc: "Doc", remaining: Container[int]) -> str:
    """The remaining words, with the blanks between neighbours."""
    text, last = "", -1
    for token in doc:
        if token.i in remaining:
            apart = doc[token.i - 1].whitespace_ if token.i == last + 1 and text else " "
            text += token.text if token.text[:1] in _ATTACHED else apart + token.text
            last = token.i
    return text.strip(" ,;:")
