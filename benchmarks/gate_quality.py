"""How many errors the gate finds: its verdicts on correct cited sentences, and on corrupted and reworded ones.

The sentences are in `gate_sentences.jsonl`, written by hand about the sample documents that come with the package. Each
is checked against the quotes that it cites and one other quote of the same documents. Each sentence is corrupted in
every way that applies to it: each digit changed in turn, a number or date changed as a person would get it wrong, the
mark moved to the other quote, a mark that names nothing, a negation, another name, the first two numbers exchanged.
Harmless variants are the sentence itself, the same number or date written in another way, another order of words, a
synonym, and rounded and derived numbers. Sentences marked `later` were written when the rules were settled, and no rule
was changed for them: their figures, which come second, are the ones to trust.

`gate_pairs.jsonl` has pairs of a source and a claim: half of the claims contradict their source, and half say the same.
In `gate_mixed_pairs.jsonl` the contradicting claims have words that belong to something else in their source, and in
`gate_other_pairs.jsonl` words from another row or column of a table, or from another sentence.
`gate_written_pairs.jsonl` has claims as models write them, faithful or with a changed subject, date, number, limit or
denial. All were written before the rules about such claims. A third of the first file and half of the third are marked
`later`, and were set aside until these rules were finished.

An error is *caught* if a citation is `unsupported` or a mark names no quote. Recall is the share of a kind that is
caught. Precision is the number caught of a kind, divided by that number plus the number of harmless sentences that were
blamed in the same way. `supported` counts wrong sentences that the gate finds supported.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from common import Table, arguments, machine, percent, print_results, working_folder
from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Context
from quoteweave.core.records import Hit, Quote, Record
from quoteweave.documents.ingest import add
from quoteweave.generation.citations import build_answer
from quoteweave.generation.gate.answer_check import check_citations

SENTENCES = Path(__file__).with_name("gate_sentences.jsonl")
PAIRS = {
    "pairs": ("Pairs of source and claim", Path(__file__).with_name("gate_pairs.jsonl")),
    "mixed_pairs": ("Pairs with the words of the source", Path(__file__).with_name("gate_mixed_pairs.jsonl")),
    "other_pairs": ("Pairs of tables and several sentences", Path(__file__).with_name("gate_other_pairs.jsonl")),
    "written_pairs": ("Claims as models write them", Path(__file__).with_name("gate_written_pairs.jsonl")),
}
SAMPLES = Path(__file__).parents[1] / "quoteweave" / "samples" / "pdf"
CANNOT_SEE = {
    "negation": "never blamed; not vouched for where the closest sentence of the quotes does not deny",
    "exchanged entity": "never blamed; not vouched for where a word of the sentence is not in the quotes",
    "misplaced numbers and words": "one passes that the same quotes have for something else, unless one sentence of "
    "theirs, or a table, tells what it belongs to",
    "calculation": "a wrong sum, difference or share is never blamed where some of the numbers happen to give it",
}
_MARK = re.compile(r" ?(?:\[1\]|!\[[^\]]*\]\(image1\))")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
Outcome = Literal["caught", "unchecked", "supported"]


class Line(Record):
    """A correct sentence, and how it is changed: pairs of a text and its replacement."""

    text: str
    question: str = ""
    later: bool = Field(default=False, description="whether it was written when the gate's rules were settled")
    cites: Mapping[str, str] = Field(description="its marks, and how the quote that each names begins")
    swap: str = Field(description="how a quote begins that the sentence could be taken to cite, but does not say it")
    harmless: Mapping[str, tuple[str, str]]
    digit: tuple[str, str] | None = None
    negation: tuple[str, str]
    entity: tuple[str, str]


class Pair(Record):
    """A claim, and the source that it cites."""

    source: str
    claim: str
    faithful: bool = Field(description="whether the source says what the claim says, or else its contrary")
    kind: str = Field(description="how the claim differs from the source")
    later: bool


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant of a sentence that the gate checks."""

    kind: str
    text: str
    context: Context
    question: str

    def outcome(self) -> Outcome:
        """The outcome of the gate's check."""
        answer = check_citations(build_answer(self.question, self.text, self.context, model="made"), self.context)
        verdicts = {citation.verdict for citation in answer.citations}
        if answer.unresolved or "unsupported" in verdicts:
            return "caught"
        return "supported" if verdicts == {"supported"} else "unchecked"


@dataclass(frozen=True, slots=True)
class Result:
    """How often each outcome occurred for one kind of variants."""

    kind: str
    counts: Counter[Outcome]

    @property
    def recall(self) -> float:
        """The share that was caught."""
        return self.counts["caught"] / self.counts.total()

    def precision(self, blamed: int) -> float | None:
        """The number caught, divided by that plus the harmless sentences `blamed`; None if both are 0."""
        caught = self.counts["caught"]
        return caught / (caught + blamed) if caught + blamed else None


def main() -> None:
    """Run from the command line."""
    options = arguments(__doc__).parse_args()
    host = machine()
    lines = [Line.model_validate_json(line) for line in SENTENCES.read_text("utf-8").splitlines()]
    with working_folder(None) as folder, Collection.open_or_create(folder) as collection:
        add(collection, [SAMPLES])
        quotes = [quote for _, _, some in collection.iter_documents_quotes() for quote in some if quote.retrievable]
    figures: dict[str, object] = {}
    tables: list[Table] = []
    for name, later in (("made with", False), ("written later", True)):
        chosen = [line for line in lines if line.later == later]
        harmful = _results(variant for line in chosen for variant in _harmed(line, quotes))
        harmless = _results(variant for line in chosen for variant in _reworded(line, quotes))
        blamed = sum(result.counts["caught"] for result in harmless)
        figures[name] = {
            "sentences": len(chosen),
            "harmful": {result.kind: _figures(result, blamed) for result in harmful},
            "harmless": {result.kind: dict(result.counts) for result in harmless},
        }
        tables += [_harm_table(f"{len(chosen)} sentences {name}", harmful, blamed), _harmless_table(harmless)]
    for name, (title, file) in PAIRS.items():
        figures[name], table = _pairs(title, file)
        tables.append(table)
    tables.append(Table("What the gate cannot see", [""], [[f"{kind}: {limit}"] for kind, limit in CANNOT_SEE.items()]))
    print_results(host, {**figures, "cannot_see": CANNOT_SEE}, tables, options)


def _pairs(title: str, file: Path) -> tuple[Mapping[str, Mapping[str, int]], Table]:
    """How often each outcome occurred for contradicting and faithful claims; those set aside are counted separately."""
    counts: dict[str, Counter[Outcome]] = {}
    for line in file.read_text("utf-8").splitlines():
        pair = Pair.model_validate_json(line)
        name = f"{'faithful' if pair.faithful else 'contrary'}, {'set aside' if pair.later else 'looked at'}"
        quote = Quote(
            id="1:0:0",
            document="source.txt",
            page=0,
            page_label="1",
            bbox=(0, 0, 0, 0),
            kind="text",
            layout="paragraph",
            text=pair.source,
        )
        context = Context(texts=tuple(_hits([quote])))
        variant = Variant(name, f"{pair.claim[:-1]} [1]{pair.claim[-1]}", context, "")
        counts.setdefault(name, Counter())[variant.outcome()] += 1
    rows = [_row(Result(name, outcome_counts)) for name, outcome_counts in counts.items()]
    columns = ["claims", "pairs", "caught", "unchecked", "supported"]
    figures = {
        name: {str(outcome): n for outcome, n in outcome_counts.items()} for name, outcome_counts in counts.items()
    }
    return figures, Table(title, columns, rows)


def _harmed(line: Line, quotes: Sequence[Quote]) -> Iterator[Variant]:
    context = _context(line, quotes)
    bare = [match.span() for match in _MARK.finditer(line.text)]
    for match in _DIGIT.finditer(line.text):
        if not any(start <= match.start() < end for start, end in bare):
            digit = str((int(match[0]) + 3) % 10 or 1)
            changed = line.text[: match.start()] + digit + line.text[match.end() :]
            yield Variant("changed digit", changed, context, line.question)
    if line.digit:
        yield Variant("changed number or date", _replaced(line.text, line.digit), context, line.question)
    yield Variant("swapped citation", _swapped(line.text), context, line.question)
    yield Variant("invented mark", _MARK.sub(" [7]", line.text), context, line.question)
    yield Variant("negation", _replaced(line.text, line.negation), context, line.question)
    yield Variant("exchanged entity", _replaced(line.text, line.entity), context, line.question)
    first, second = (*_NUMBER.finditer(_MARK.sub("", line.text)), None, None)[:2]
    if first is not None and second is not None:
        exchanged = first.string[: first.start()] + second[0] + first.string[first.end() : second.start()] + first[0]
        marks = "".join(_MARK.findall(line.text))
        rest = first.string[second.end() :]
        yield Variant("two numbers exchanged", f"{exchanged}{rest[:-1]}{marks}{rest[-1:]}", context, line.question)


def _reworded(line: Line, quotes: Sequence[Quote]) -> Iterator[Variant]:
    context = _context(line, quotes)
    yield Variant("as it is", line.text, context, line.question)
    for kind, pair in line.harmless.items():
        yield Variant(kind, _replaced(line.text, pair), context, line.question)


def _context(line: Line, quotes: Sequence[Quote]) -> Context:
    """The quotes that the sentence cites, first of their kind, and the one that it does not."""
    cited = {mark: _quote(begins, quotes) for mark, begins in line.cites.items()}
    other = _quote(line.swap, quotes)
    texts = [*(quote for mark, quote in cited.items() if mark == "[1]"), *([other] if other.kind == "text" else [])]
    images = [*(quote for mark, quote in cited.items() if mark != "[1]"), *([other] if other.kind == "image" else [])]
    return Context(texts=tuple(_hits(texts)), images=tuple(_hits(images)))


def _hits(quotes: Sequence[Quote]) -> Iterator[Hit]:
    return (Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(quotes, 1))


def _quote(begins: str, quotes: Sequence[Quote]) -> Quote:
    return next(quote for quote in quotes if quote.text.startswith(begins))


def _replaced(text: str, pair: tuple[str, str]) -> str:
    if pair[0] not in text:
        raise ValueError(f"{pair[0]!r} is not in {text!r}")
    return text.replace(*pair, 1)


def _swapped(text: str) -> str:
    """The sentence with a single mark, that of the other quote."""
    first, *other_marks = _MARK.finditer(text)
    for match in reversed(other_marks):
        text = text[: match.start()] + text[match.end() :]
    moved = first[0].replace("[1]", "[2]").replace("image1", "image2")
    return text[: first.start()] + moved + text[first.end() :]


def _results(variants: Iterator[Variant]) -> list[Result]:
    kinds: dict[str, list[Outcome]] = {}
    for variant in variants:
        kinds.setdefault(variant.kind, []).append(variant.outcome())
    return [Result(kind, Counter(outcomes)) for kind, outcomes in kinds.items()]


def _figures(result: Result, blamed: int) -> Mapping[str, float | None]:
    counts: dict[str, float | None] = {str(outcome): count for outcome, count in result.counts.items()}
    return {**counts, "recall": result.recall, "precision": result.precision(blamed)}


def _harm_table(title: str, results: Sequence[Result], blamed: int) -> Table:
    columns = ["harm", "sentences", "caught", "unchecked", "supported", "recall", "precision"]
    rows = [[*_row(result), percent(result.recall), percent(result.precision(blamed))] for result in results]
    return Table(title, columns, rows)


def _harmless_table(results: Sequence[Result]) -> Table:
    every = Result("all", sum((result.counts for result in results), Counter()))
    columns = ["harmless", "sentences", "blamed", "unchecked", "supported"]
    return Table("Harmless; rounded and derived numbers should be unchecked", columns, [*map(_row, [*results, every])])


def _row(result: Result) -> list[str]:
    counts = (result.counts[kind] for kind in ("caught", "unchecked", "supported"))
    return [result.kind, str(result.counts.total()), *map(str, counts)]


if __name__ == "__main__":
    main()
