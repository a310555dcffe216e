"""Groups lines into blocks (paragraphs, titles, list items) by geometry; `documents.assembly` decides what each one is.

The patterns describe the beginnings of lines: bullets, section numbers, page numbers, notes.
"""

import itertools
import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quoteweave.core.boxes import Box, hull
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.references.mentions import caption_label
from quoteweave.core.text.tokens import RAISED
from quoteweave.documents.sources.lines import BULLET_SIGN, Line
from quoteweave.documents.sources.pdf_text.tags import ItemTag

# A bullet, or "1." "1)" "(a)" "iv." before some text.
BULLET = lazy_regex(r"(?:[•‣▪■●○◦–—·*❖◆➢➤✓✔☐☑☒◉\uf0b7\uf0a7-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+")
# "3", "3.1", "IV.", "A." before a title.
SECTION_NUMBER = lazy_regex(r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.|[A-Z]\.|[A-Z]\.\d+)\s+\S")
PAGE_NUMBER = lazy_regex(
    r"(?:page\s+)?[-–—|\s]*(\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?[-–—|\s]*", re.IGNORECASE
)
NUMERIC = lazy_regex(rf"[-+±~<>≥≤$€£(]*\d[\d.,:/%–-]*[)%]?[a-zA-Z]{{0,3}}[{RAISED}]{{0,2}}")
_WORD = lazy_regex(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*[.,;:?!)]*")
_OF_NUMBER = lazy_regex(r"[\d$€£¥₹]")
# The first words of a note to a table or chart: "* Estimated", "Source: …"; and "a Includes …" or "(1) Net of …", which
# may also begin numbered titles.
NOTE = lazy_regex(
    r"\s*(?:[*†‡§¶]|(?:notes?|sources?|quelle|anmerkung(?:en)?|remarques?|fuente|fonte)\s*[:.–—-])", re.IGNORECASE
)
NOTE_MARK = lazy_regex(rf"\s*(?:(?:\([a-z0-9]\)|[a-z0-9]\)?|[ᵃ-ᵈ])\s+|[{RAISED}]{{1,3}}\s*)[A-Z]")


# Lines are in different blocks if their baselines are further apart, in font sizes, or their sizes differ by more.
MAX_PITCH = 2.3
SIZE_RATIO = 1.25
# Among how many lines before it the line that a line continues is searched; no readable page has more side by side.
NEIGHBOURS = 100
# The most characters of either part of a word that a hyphen breaks.
MAX_PART_CHARACTERS = 100

SENTENCE_ENDS = (".", ":", "?", "!")
# The parts of a word before and after the hyphen that breaks it.
BrokenWord = tuple[str, str]
_BEFORE_BREAK = lazy_regex(r"[^\W_][\w-]*(?=-$)")
_AFTER_BREAK = lazy_regex(r"\w+")


def broken_word(text: str, following: str) -> BrokenWord | None:
    """The word that a hyphen at the end of a text breaks; None if it breaks none: "-" alone, or before a capital."""
    if not (text.endswith("-") and text[-2:-1].isalpha() and following[:1].islower()):
        return None
    before, after = (
        _BEFORE_BREAK.search(text[-MAX_PART_CHARACTERS:]),
        _AFTER_BREAK.match(following[:MAX_PART_CHARACTERS]),
    )
    return (before[0], after[0]) if before and after else None  # a word cannot begin with a letter in a circle


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines that belong together, top to bottom."""

    lines: tuple[Line, ...]
    box: Box
    begins_item: bool = False
    """Whether it is the beginning of an item of a list, according to the file's tags."""

    @property
    def text(self) -> str:
        """The lines as running text: hyphenated words are joined, and a bullet that is drawn, not text, is added."""
        text = self.lines[0].text
        if self.begins_item and self.item is not None and self.item.has_drawn_label:
            text = f"{BULLET_SIGN} {text}"
        for line in self.lines[1:]:
            following = line.text
            text = text[:-1] + following if broken_word(text, following) else f"{text} {following}"
        return text

    @property
    def item(self) -> ItemTag | None:
        """The item of a list that contains it, according to the file's tags."""
        tag = self.lines[0].tag
        return tag if isinstance(tag, ItemTag) else None

    @property
    def broken_words(self) -> tuple[BrokenWord, ...]:
        """The words that are hyphenated at the end of a line, which `text` has joined."""
        pairs = itertools.pairwise(line.text for line in self.lines)
        return tuple(broken for line, following in pairs if (broken := broken_word(line, following)) is not None)

    @property
    def size(self) -> float:
        """Median font size of the lines, in points."""
        return statistics.median(line.size for line in self.lines)

    @property
    def bold(self) -> bool:
        """Whether every line is bold."""
        return all(line.bold for line in self.lines)

    @property
    def prose(self) -> bool:
        """Whether it is running text rather than labels, titles or cells; at least half of its words are no numbers."""
        words = [word.text for line in self.lines for word in line.words]
        if len(words) < 12 or len(words) / len(self.lines) < 4.5:
            return False
        numbers = [word for word in words if _OF_NUMBER.search(word) and not any(map(str.isalpha, word))]
        return 2 * len(numbers) <= len(words)


def block_of(lines: Sequence[Line]) -> LineBlock:
    """A block of these lines."""
    return LineBlock(tuple(lines), hull(line.box for line in lines))


def group_lines(lines: Sequence[Line]) -> list[LineBlock]:
    """Group lines that are stacked. Every line is in exactly one block."""
    upright = sorted(_join_leaders([line for line in lines if line.upright]), key=lambda line: line.box[1])
    chains: list[list[Line]] = []
    chain_of: list[int] = []
    for line, above in zip(upright, _continued(upright), strict=True):
        if above is None:
            chain_of.append(len(chains))
            chains.append([line])
        else:
            chain_of.append(chain_of[above])
            chains[chain_of[above]].append(line)
    blocks = [block_of(part) for chain in chains for part in _paragraphs(chain)]
    return [*_with_items(blocks, lines), *(block_of([line]) for line in lines if not line.upright)]


def _with_items(blocks: Sequence[LineBlock], lines: Sequence[Line]) -> list[LineBlock]:
    """The blocks; the first one of each list item that begins on the page is marked as its beginning."""
    order = {id(word): at for at, word in enumerate(word for line in lines for word in line.words)}
    firsts: dict[int, LineBlock] = {}
    for block in blocks:
        if block.item is not None and block.item.begins:
            first = firsts.setdefault(block.item.number, block)
            firsts[block.item.number] = min(first, block, key=lambda candidate: order[id(candidate.lines[0].words[0])])
    ids = set(map(id, firsts.values()))
    return [replace(block, begins_item=id(block) in ids) for block in blocks] if ids else list(blocks)


def _join_leaders(lines: Sequence[Line]) -> list[Line]:
    """Join each bullet or number with the text that a tab separates it from."""
    ordered = sorted(lines, key=lambda line: (round(line.box[1]), line.box[0]))
    joined: dict[int, Line] = {}
    used: set[int] = set()
    for at, leader in enumerate(ordered):
        if at in used or not BULLET.fullmatch(leader.text + " "):
            continue
        near = range(max(0, at - NEIGHBOURS), min(len(ordered), at + NEIGHBOURS))
        text = next(
            (other for other in near if other != at and other not in used and _leads(leader, ordered[other])), None
        )
        if text is not None and not any(_ends_a_column(leader, ordered[text], ordered[other]) for other in near):
            words = leader.words + ordered[text].words
            joined[text] = replace(ordered[text], words=words, box=hull(word.box for word in words))
            used |= {at, text}
    return [joined.get(at, line) for at, line in enumerate(ordered) if at in joined or at not in used]


def _leads(leader: Line, line: Line) -> bool:
    shared_height = min(leader.box[3], line.box[3]) - max(leader.box[1], line.box[1])
    return -1 < line.box[0] - leader.box[2] < 4 * line.size and shared_height > 0.4 * leader.height


def _ends_a_column(leader: Line, text: Line, other: Line) -> bool:
    """Whether the leader is an equation's number: if a line above or below shows that a column ends there."""
    is_close = abs(other.baseline - leader.baseline) < 4 * leader.size
    return is_close and other.box[0] < leader.box[0] - 4 * leader.size and leader.box[0] < other.box[2] < text.box[0]


def _continued(lines: Sequence[Line]) -> list[int | None]:
    """For each line, sorted by top, the index of the line that it continues, or None; no line is continued twice."""
    continued: list[int | None] = []
    continued_once: set[int] = set()
    for at, line in enumerate(lines):
        best, best_pitch = None, MAX_PITCH * line.size
        for above in range(at - 1, max(-1, at - 1 - NEIGHBOURS), -1):
            pitch = line.baseline - lines[above].baseline
            if pitch > 6 * best_pitch:
                break
            if 0 < pitch < best_pitch and above not in continued_once and _are_stacked(lines[above], line):
                best, best_pitch = above, pitch
        if best is not None and _has_line_between(lines, best, at):
            best = None
        continued.append(best)
        continued_once |= {best} if best is not None else set()
    return continued


def _are_stacked(upper: Line, lower: Line) -> bool:
    shared_width = min(upper.box[2], lower.box[2]) - max(upper.box[0], lower.box[0])
    narrower = min(upper.box[2] - upper.box[0], lower.box[2] - lower.box[0])
    are_alike = max(upper.size, lower.size) <= SIZE_RATIO * min(upper.size, lower.size) and upper.bold == lower.bold
    return are_alike and shared_width > 0.5 * narrower and lower.box[1] > upper.box[1] + 0.3 * upper.height


def _has_line_between(lines: Sequence[Line], upper: int, lower: int) -> bool:
    a, b = lines[upper].box, lines[lower].box
    left, right = max(a[0], b[0]), min(a[2], b[2])
    return any(
        a[3] <= (line.box[1] + line.box[3]) / 2 <= b[1] and line.box[0] < right and line.box[2] > left
        for line in lines[upper + 1 : lower]
    )


def _paragraphs(chain: Sequence[Line]) -> list[list[Line]]:
    """Split a chain of lines into paragraphs: at a wider gap, a bullet, an indent, or after a short last line."""
    if len(chain) == 1:
        return [list(chain)]
    pitches = [lower.baseline - upper.baseline for upper, lower in itertools.pairwise(chain)]
    usual_pitch = statistics.median_low(pitches)
    left, right = min(line.box[0] for line in chain), max(line.box[2] for line in chain)
    at_left = _at_left(chain, left)
    references = _are_entries(chain, at_left, right)
    parts = [[chain[0]]]
    for i, (previous, line) in enumerate(itertools.pairwise(chain)):
        first, ends_short = parts[-1][0], _ends_short(previous, left, right)
        is_hanging = first.has_label or BULLET.match(first.text) is not None
        if references:
            # As in a paragraph above an indented list, all of whose lines begin where entries would begin.
            is_continued = at_left[i] and _runs_on(previous, right) and is_in_lower_case(line.words[0].text)
            begins_anew = at_left[i + 1] and not is_hanging and not is_continued
        else:
            is_indented = at_left[i] and not at_left[i + 1] and line.box[0] - previous.box[0] > 0.4 * line.size
            begins_anew = (is_indented or ends_short) and not is_hanging
        # A text with a label may have several paragraphs, whose lines begin further right than the label.
        begins_anew |= first.has_label and not previous.has_label and ends_short
        at_label = first.has_label and line.box[0] < first.box[0] + 0.8 * line.size
        is_outdented = is_hanging and line.box[0] < first.box[0] - 0.5 * line.size
        has_ended = is_outdented and previous.box[2] < right - 2 * line.size
        is_caption = previous.text.endswith(SENTENCE_ENDS) and caption_label(line.text) is not None
        are_items = isinstance(line.tag, ItemTag) or isinstance(previous.tag, ItemTag)
        is_new = begins_anew or has_ended or is_caption or line.has_label or at_label or line.beside_initial is not None
        is_split = line.tag != previous.tag if are_items else is_new
        if pitches[i] > 1.25 * usual_pitch + 1 or BULLET.match(line.text) or is_split:
            parts.append([line])
        else:
            parts[-1].append(line)
    return parts


def _at_left(chain: Sequence[Line], left: float) -> list[bool]:
    """Whether each line begins at the left edge, or at a large initial that stands there."""
    are_at_left, initial = list[bool](), -math.inf
    for line in chain:
        initial = line.beside_initial or initial
        are_at_left.append(line.box[0] - left < 0.8 * line.size or line.baseline < initial + 1)
    return are_at_left


def _are_entries(chain: Sequence[Line], at_left: Sequence[bool], right: float) -> bool:
    """Whether these are entries, such as references, whose first line begins further left.

    Fewer than half of the lines after the first begin there, and most of them are not below a full line that does,
    unlike the lines of a paragraph below a list.
    """
    runs_on = sum(
        upper and lower and _runs_on(line, right)
        for (upper, lower), line in zip(itertools.pairwise(at_left), chain, strict=False)
    )
    return sum(at_left) <= 0.5 * len(chain) - (not at_left[0]) and runs_on <= 0.5 * sum(at_left)


def is_in_lower_case(text: str) -> bool:
    """Whether a text begins with a word without a capital letter."""
    return not text[:1].isupper() and _WORD.fullmatch(text) is not None


def _runs_on(line: Line, right: float) -> bool:
    """Whether the line is full and does not end a sentence."""
    return line.box[2] > right - 2 * line.size and not line.text.endswith(SENTENCE_ENDS)


def _ends_short(line: Line, left: float, right: float) -> bool:
    """Whether the line ends a sentence well before the right margin."""
    return right - line.box[2] > 0.15 * (right - left) and line.text.endswith(SENTENCE_ENDS)


def usual_size(lines: Sequence[Line]) -> float:
    """The median font size of all words, in points; 0 without any."""
    sizes = [line.size for line in lines for _ in line.words]
    return statistics.median(sizes) if sizes else 0.0


def lines_to_rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Rows of lines that share a baseline, left to right; rows from top to bottom."""
    rows: list[list[Line]] = []
    bottom = 0.0
    for line in sorted(lines, key=lambda line: line.box[1] + line.box[3]):
        if rows and (line.box[1] + line.box[3]) / 2 < bottom - 0.25 * line.height:
            rows[-1].append(line)
            bottom = max(bottom, line.box[3])
        else:
            rows.append([line])
            bottom = line.box[3]
    return [sorted(row, key=lambda line: line.box[0]) for row in rows]


def text_by_rows(lines: Sequence[Line]) -> str:
    """The lines as text, one row to a line."""
    return "\n".join(" ".join(line.text for line in row) for row in lines_to_rows(lines))
