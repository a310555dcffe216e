"""Lines become blocks: paragraphs, titles, list items. Geometry only; what a block is called, `structure` decides."""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.lines import Line
from quoteweave.documents.marks import BULLET

# In font sizes: baselines further apart than this belong to two blocks; so do lines whose sizes differ by more.
LONGEST_PITCH = 2.3
SIZE_RATIO = 1.25


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that a reader takes together, top to bottom."""

    lines: tuple[Line, ...]
    box: Box

    @property
    def text(self) -> str:
        """The lines as running text: hyphenated words put together again."""
        text = self.lines[0].text
        for line in self.lines[1:]:
            following = line.text
            if text.endswith("-") and len(text) > 1 and text[-2].isalpha() and following[:1].islower():
                text = text[:-1] + following
            else:
                text = f"{text} {following}"
        return text

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
        """Running text, as opposed to labels, titles and table cells."""
        words = sum(len(line.words) for line in self.lines)
        return words >= 12 and words / len(self.lines) >= 4.5


def block_of(lines: Sequence[Line]) -> Block:
    """A block around these lines."""
    return Block(tuple(lines), hull(line.box for line in lines))


def group(lines: Sequence[Line]) -> list[Block]:
    """Group lines that stand under each other. Every line lands in exactly one block."""
    upright = sorted(_join_leaders([line for line in lines if line.upright]), key=lambda line: line.box[1])
    above = _nearest_above(upright)
    chains: list[list[Line]] = []
    chain_of: dict[int, int] = {}
    for i, line in enumerate(upright):
        j = above[i]
        if j is None:
            chain_of[i] = len(chains)
            chains.append([line])
        else:
            chain_of[i] = chain_of[j]
            chains[chain_of[j]].append(line)
    blocks = [block_of(part) for chain in chains for part in _paragraphs(chain)]
    return blocks + [block_of([line]) for line in lines if not line.upright]


def _join_leaders(lines: Sequence[Line]) -> list[Line]:
    """A bullet or number set apart from its text by a tab is one line with it."""
    ordered = sorted(lines, key=lambda line: (round(line.box[1]), line.box[0]))
    leaders = [line for line in ordered if BULLET.fullmatch(line.text + " ")]
    taken: set[int] = set()
    joined: dict[int, Line] = {}
    for leader in leaders:
        for line in ordered:
            gap = line.box[0] - leader.box[2]
            level = min(leader.box[3], line.box[3]) - max(leader.box[1], line.box[1])
            if (
                line is not leader
                and id(line) not in taken
                and -1 < gap < 4 * line.size
                and level > 0.4 * leader.height
            ):
                words = leader.words + line.words
                joined[id(line)] = replace(line, words=words, box=hull(w.box for w in words))
                taken |= {id(leader), id(line)}
                break
    return [joined.get(id(line), line) for line in ordered if id(line) in joined or id(line) not in taken]


def _nearest_above(lines: Sequence[Line]) -> list[int | None]:
    """For each line the one that it continues, if any; no line is continued twice."""
    above: list[int | None] = [None] * len(lines)
    continued: set[int] = set()
    for i, line in enumerate(lines):
        best, best_pitch = None, LONGEST_PITCH * line.size
        for j in range(i - 1, -1, -1):
            pitch = line.baseline - lines[j].baseline
            if pitch > 6 * best_pitch:
                break
            if 0 < pitch < best_pitch and j not in continued and _stacked(lines[j], line):
                best, best_pitch = j, pitch
        if best is not None and not _something_between(lines, best, i):
            above[i] = best
            continued.add(best)
    return above


def _stacked(upper: Line, lower: Line) -> bool:
    overlap = min(upper.box[2], lower.box[2]) - max(upper.box[0], lower.box[0])
    narrower = min(upper.box[2] - upper.box[0], lower.box[2] - lower.box[0])
    alike = max(upper.size, lower.size) <= SIZE_RATIO * min(upper.size, lower.size) and upper.bold == lower.bold
    return alike and overlap > 0.5 * narrower and lower.box[1] > upper.box[1] + 0.3 * upper.height


def _something_between(lines: Sequence[Line], upper: int, lower: int) -> bool:
    a, b = lines[upper].box, lines[lower].box
    left, right = max(a[0], b[0]), min(a[2], b[2])
    return any(
        a[3] <= (line.box[1] + line.box[3]) / 2 <= b[1] and line.box[0] < right and line.box[2] > left
        for line in lines[upper + 1 : lower]
    )


def _paragraphs(chain: Sequence[Line]) -> list[list[Line]]:
    """Cut a chain where a paragraph starts: a wider gap, a bullet, an indent, or after a short last line."""
    if len(chain) == 1:
        return [list(chain)]
    pitches = [b.baseline - a.baseline for a, b in itertools.pairwise(chain)]
    usual = statistics.median_low(pitches)
    left, right = min(line.box[0] for line in chain), max(line.box[2] for line in chain)
    outdents = sum(line.box[0] - left < 0.8 * line.size for line in chain)
    at_left = chain[0].box[0] - left < 0.8 * chain[0].size
    references = outdents <= 0.5 * len(chain) - (not at_left)
    parts = [[chain[0]]]
    for previous, line, pitch in zip(chain, chain[1:], pitches, strict=False):
        em = line.size
        indented = line.box[0] - left > 0.8 * em and previous.box[0] - left < 0.8 * em
        if references:  # entries whose first line stands out to the left
            indented, short = line.box[0] - left < 0.8 * em, False
        short = right - previous.box[2] > 0.15 * (right - left) and previous.text.rstrip().endswith(
            (".", ":", "?", "!")
        )
        hanging = bool(BULLET.match(parts[-1][0].text))
        starts = bool(BULLET.match(line.text)) or (indented and not hanging) or (short and not hanging)
        outdented = hanging and line.box[0] < parts[-1][0].box[0] - 0.5 * em and previous.box[2] < right - 2 * em
        if pitch > 1.25 * usual + 1 or starts or outdented:
            parts.append([line])
        else:
            parts[-1].append(line)
    return parts


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that share a baseline, left to right; rows from top to bottom."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.box[1] + line.box[3]) / 2):
        middle = (line.box[1] + line.box[3]) / 2
        last = rows[-1] if rows else None
        if last and middle < max(other.box[3] for other in last) - 0.25 * line.height:
            last.append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box[0]) for row in rows]
