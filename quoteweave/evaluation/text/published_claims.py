"""Split a sentence into the claims of its citations exactly as ALiiCE's authors do, quirks included.

Source: `myparser.py` of github.com/ylXuu/ALiiCE at e9fa8db, for arXiv 2406.13375. Our own split, `text.claims`, is not
comparable with published figures. What theirs does:

words      all but letters, digits, `_`, blanks, commas and brackets is deleted before the sentence is parsed ("co-op"
           becomes "coop", "$3.5" becomes "35"). White space separates words; a comma or bracket around one is removed.
           A comma after a mark leaves an empty word, so that a second blank is a token, which claims keep
marks      only `[n]`. Marks follow the word before them, those at the beginning of a sentence its first word.
           Duplicates stay
tokens     the cited word is the token nearest to the word's number that contains it or is contained in it. Tokens are
           not numbered like words, so if spaCy splits words, it may be a different one; an empty word matches any token
no tree    a sentence of over 50 words, counting marks that stand alone, and one that cites at the root of its tree,
           is one claim with all its citations; the latter without its punctuation. If no token matches a cited word,
           the sentence cites nothing. A model without a parser also has no tree, where theirs never ends
parting    as in `text.claims`, but what joined a branch below the word itself stays ("Cups of glass or"). If the
           other word has become the root, the word's branch does not replace it, but is attached to it a second time;
           such a branch is thereafter separated from others at the root
same text  if two claims have the same text, the later one's citations count, at the earlier one's position
"""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quoteweave.core.examples import Prediction
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.evaluation.text.claims import DependencyParser
from quoteweave.evaluation.text.responses import MarkGrammar, answer_of, scored_text

if TYPE_CHECKING:
    from spacy.tokens import Doc

MAX_SENTENCE_WORDS = 50
"""The most words of a sentence that is parsed, split at white space, marks included."""
PUBLISHED_MARK = lazy_regex(r"\[(\d+)\]")
_MARK_BEGINS = lazy_regex(r" ?\[\d+")
_DELETED = lazy_regex(r"[^\w\s\[\],]")
_CLAUSES = frozenset({"prep", "advcl"})
_CONJUNCTIONS = frozenset({"cc", "CC"})


@dataclass(frozen=True, slots=True)
class PublishedClaim:
    """A claim and the numbers it cites, unchanged: including duplicates, 0 and numbers out of range."""

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PublishedSentence:
    """The claims of one sentence."""

    claims: tuple[PublishedClaim, ...]
    is_unsplit: bool


def published_numbers(text: str) -> tuple[int, ...]:
    """The numbers of all marks `[n]`, in order."""
    return tuple(int(number) for number in PUBLISHED_MARK.findall(text))


def without_published_marks(text: str) -> str:
    """The text without marks, as ALCE and ALiiCE remove them: `[n` with a blank before it, ` |`, and every `]`."""
    return _MARK_BEGINS.sub("", text).replace(" |", "").replace("]", "")


def alce_text(response: str) -> str:
    """What ALCE's code reads of a response: its first line. Thinking, which that code does not know, is removed."""
    return answer_of(response, "own").strip().split("\n")[0].replace("<|im_end|>", "")


def alce_words(prediction: Prediction, marks: MarkGrammar = "own", *, published: bool) -> str | None:
    """An answer without its marks: what ALCE's code reads of it if `published`, else `scored_text`; or None."""
    if prediction.response is None:
        return None
    return without_published_marks(alce_text(prediction.response)) if published else scored_text(prediction, marks)


def whole_sentence(sentence: str) -> PublishedSentence:
    """The sentence as one claim with all its citations."""
    return PublishedSentence((PublishedClaim(without_published_marks(sentence), published_numbers(sentence)),), True)


def published_claims(sentences: Sequence[str], parse: DependencyParser) -> list[PublishedSentence]:
    """The claims of each sentence, in order. Everything that has to be parsed is parsed together."""
    parsed = [_words(_DELETED.sub("", sentence)) if _is_parsed(sentence) else None for sentence in sentences]
    docs = iter(parse([" ".join(words) for words, _ in filter(None, parsed)]) if any(parsed) else ())
    return [
        _unparsed(sentence) if words is None else _taken_apart(_DELETED.sub("", sentence), *words, next(docs))
        for sentence, words in zip(sentences, parsed, strict=True)
    ]


def _is_parsed(sentence: str) -> bool:
    return PUBLISHED_MARK.search(sentence) is not None and len(sentence.split()) <= MAX_SENTENCE_WORDS


def _unparsed(sentence: str) -> PublishedSentence:
    # Without a mark, the sentence is left unchanged.
    return whole_sentence(sentence) if PUBLISHED_MARK.search(sentence) else _citing_nothing(sentence)


def _citing_nothing(sentence: str) -> PublishedSentence:
    return PublishedSentence((PublishedClaim(sentence, ()),), True)


def _words(sentence: str) -> tuple[list[str], dict[int, tuple[int, ...]]]:
    """The words of a sentence, and the citations of each cited word, by its number."""
    words: list[str] = []
    cited: dict[int, tuple[int, ...]] = {}
    group: tuple[int, ...] = ()
    for piece in (piece for part in sentence.split() for piece in re.split(r"(\[\d+\])", part) if piece):
        if mark := PUBLISHED_MARK.fullmatch(piece):
            group += (int(mark[1]),)
            cited[max(len(words) - 1, 0)] = group
        else:
            words.append(piece.strip(string.punctuation))
            group = ()
    return words, cited


def _taken_apart(
    sentence: str, words: Sequence[str], cited: Mapping[int, tuple[int, ...]], doc: "Doc"
) -> PublishedSentence:
    """The claims of a cleaned sentence according to the tree of its words."""
    at_token: dict[int, tuple[int, ...]] = {}
    for number, group in cited.items():
        like = [token.i for token in doc if words[number] in token.text or token.text in words[number]]
        if not like:
            return _citing_nothing(sentence)
        at_token[min(like, key=lambda place: abs(place - number))] = group
    tree = _Tree(doc) if not at_token or doc.has_annotation("DEP") else None
    if tree is None or tree.root in at_token:
        return whole_sentence(sentence)
    claims: dict[str, tuple[int, ...]] = {}
    for token in [token for token in at_token if tree.reaches(tree.root, token)]:
        claim_tree = _Tree(doc)
        for other in at_token:
            if other != token:
                _separate(claim_tree, token, other)
        claims[" ".join(doc[place].text for place in sorted(claim_tree.below(claim_tree.root)))] = at_token[token]
    return PublishedSentence(tuple(PublishedClaim(text, numbers) for text, numbers in claims.items()), False)


class _Tree:
    """A dependency tree whose branches may be attached twice; nodes are positions of tokens."""

    def __init__(self, doc: "Doc") -> None:
        roots = [token.i for token in doc if token.dep_ == "ROOT"]
        self.root = roots[-1] if roots else 0
        self._children: dict[int, list[int]] = {token.i: [] for token in doc}
        self._labels: dict[tuple[int, int], str | None] = {}
        self._commas = {token.i for token in doc if token.text == ","}
        for token in doc:
            if token.dep_ != "ROOT":
                self._children[token.head.i].append(token.i)
                self._labels[token.head.i, token.i] = token.dep_

    def below(self, node: int) -> set[int]:
        """The node and all nodes below it."""
        return {node}.union(*(self.below(child) for child in self._children[node]))

    def reaches(self, node: int, sought: int) -> bool:
        """Whether a node is at or below another."""
        return node == sought or any(self.reaches(child, sought) for child in self._children[node])

    def branch(self, node: int, sought: int) -> int:
        """The first child of `node` that leads to another node."""
        return next(child for child in self._children[node] if self.reaches(child, sought))

    def meeting(self, node: int, first: int, second: int) -> int | None:
        """The lowest node above both, or above either if that is attached twice; None if neither is below."""
        if node in (first, second):
            return node
        meetings = [
            place for child in self._children[node] if (place := self.meeting(child, first, second)) is not None
        ]
        return node if len(meetings) > 1 else next(iter(meetings), None)

    def opens(self, node: int, branch: int) -> bool:
        """Whether a branch of a node is a clause at the beginning of the sentence."""
        return self._labels[node, branch] in _CLAUSES and self.reaches(branch, 0)

    def joints(self, node: int, first: int, second: int) -> list[int]:
        """Commas and conjunctions between two branches of a node."""
        between = range(min(first, second) + 1, max(first, second))
        children = [child for child in self._children[node] if child in between]
        return [child for child in children if child in self._commas or self._labels[node, child] in _CONJUNCTIONS]

    def prune(self, node: int, *branches: int) -> None:
        """Remove branches from a node."""
        for branch in branches:
            self._children[node].remove(branch)

    def raise_over(self, node: int, branch: int) -> None:
        """Attach a branch of a node in the node's place; if that is the root, a second time below it."""
        above = next((parent for parent in self.below(self.root) if node in self._children[parent]), node)
        self._children[above].append(branch)
        self._labels[above, branch] = None
        if above != node:
            self.prune(above, node)

    def keep(self, node: int, branch: int) -> None:
        """Remove all but one branch from a node."""
        self._children[node] = [branch]


def _separate(tree: _Tree, token: int, other: int) -> None:
    """Remove from the tree what belongs to the other cited token."""
    lca = tree.meeting(tree.root, token, other) if tree.reaches(tree.root, other) else None
    if lca is None:
        return
    if lca == token:
        tree.prune(lca, tree.branch(lca, other))
    elif lca == other:
        tree.raise_over(lca, tree.branch(lca, token))
    else:
        _separate_branches(tree, lca, tree.branch(lca, token), tree.branch(lca, other))


def _separate_branches(tree: _Tree, lca: int, token_branch: int, other_branch: int) -> None:
    at_root = lca == tree.root
    joints = tree.joints(lca, token_branch, other_branch)
    clause = bool(joints) and at_root and tree.opens(lca, min(token_branch, other_branch))
    if joints and (token_branch < other_branch) != clause:
        tree.prune(lca, other_branch, *joints)
    elif at_root:
        tree.root = token_branch
    elif joints:
        tree.keep(lca, token_branch)
    else:
        tree.prune(lca, other_branch)
