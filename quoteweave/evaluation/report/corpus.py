"""Statistics of a dataset and of a collection, with their tables and plots (MMDocRAG's Table 2, Figures 4 and 5)."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quoteweave.core.chat.usage import estimate_tokens
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Document, Quote
from quoteweave.evaluation.metrics.gold import gold_of, own_gold
from quoteweave.evaluation.report.drawing import BAR, COLOURS, INK, WIDTH, Plot, make_plot, panels, shortened, style
from quoteweave.evaluation.report.labels import breakdown_label, group_label, ordered
from quoteweave.evaluation.report.tables import Cell, Table
from quoteweave.evaluation.scoring.breakdowns import groups_of, text_first
from quoteweave.evaluation.statistics.aggregates import half_up


@dataclass(frozen=True, slots=True)
class Distribution:
    """Numbers that are reported by their mean, median and maximum; what they count is said where they are used."""

    values: Sequence[float]

    def summary(self) -> dict[str, float | None]:
        """Their count, sum, mean, median and maximum; None if there are none."""
        known = self.values
        return {
            "n": len(known),
            "total": sum(known),
            "mean": statistics.fmean(known) if known else None,
            "median": statistics.median(known) if known else None,
            "greatest": max(known, default=None),
        }


Distributions = Mapping[str, Distribution]


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts of a dataset or a collection."""

    name: str
    counts: Mapping[str, int]
    """Number of each kind of thing: documents, questions, quotes by kind and layout."""
    distributions: Distributions
    """`pages per document`, `words per text quote` and so on; distributions without data are left out."""
    groups: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Breakdown to group to the number of its questions; a question may be in several groups, or in none."""
    gold_at: Mapping[str, int] = field(default_factory=dict)
    """Place in the dataset's own contexts (`text1`, `image1`) to the number of gold quotes there."""

    def as_dict(self) -> dict[str, object]:
        """Plain values; each distribution is given by its summary."""
        return {
            "name": self.name,
            "counts": dict(self.counts),
            "distributions": {name: distribution.summary() for name, distribution in self.distributions.items()},
            "groups": {name: dict(groups) for name, groups in self.groups.items()},
            "gold_at": dict(self.gold_at),
        }


def words_in(text: str | None) -> int:
    """The number of words, which are separated by white space."""
    return len((text or "").split())


VIEWS: Mapping[str, Callable[[Quote], str | None]] = {
    "text quote": lambda quote: quote.text if quote.kind == "text" else None,
    "image quote, its own text": lambda quote: quote.text or None if quote.kind == "image" else None,
    "image quote, OCR text": lambda quote: quote.ocr_text if quote.kind == "image" else None,
    "image quote, VLM text": lambda quote: quote.vlm_text if quote.kind == "image" else None,
}
"""The text for each way in which a quote is shown in words, if it has it (MMDocRAG's Figure 5 has the last two)."""


def collection_statistics(name: str, documents: Iterable[tuple[Document, Sequence[Quote]]]) -> CorpusStatistics:
    """Count documents, pages, quotes and words (MMDocRAG's Figures 4 and 5). Headers and footers are left out.

    >>> from quoteweave.core.records import Document
    >>> document = Document(id="1", name="port.pdf", content="", format="pdf", parser="", pages=3, quotes=0)
    >>> collection_statistics("mine", [(document, [])]).distributions["pages per document"].summary()["mean"]
    3.0
    """
    per_document: dict[str, list[float]] = {}
    quotes: list[Quote] = []
    number = pages = 0
    for document, document_quotes in documents:
        retrievable = [quote for quote in document_quotes if quote.retrievable]
        kinds = Counter(quote.kind for quote in retrievable)
        text = sum(words_in(quote.text) for quote in retrievable)
        number, pages = number + 1, pages + document.pages
        for measure, value in {
            "pages": document.pages,
            "words": text,
            "text quotes": kinds["text"],
            "image quotes": kinds["image"],
        }.items():
            per_document.setdefault(f"{measure} per document", []).append(value)
        quotes += retrievable
    layouts = Counter(quote.layout for quote in quotes)
    return CorpusStatistics(
        name,
        {
            "documents": number,
            "pages": pages,
            **_kinds(quotes),
            **{f"quotes of layout {layout}": count for layout, count in layouts.most_common()},
        },
        {**{measure: Distribution(values) for measure, values in per_document.items()}, **_lengths(quotes)},
    )


def dataset_statistics(name: str, examples: Sequence[Example]) -> CorpusStatistics:
    """Count questions by their known properties, gold and candidate quotes, and words (MMDocRAG's Table 2).

    >>> dataset_statistics("mmdocrag-20", load_dataset("mmdocrag-20", Path("gold.jsonl"))).counts["questions"]
    4
    """
    candidates = [hit.quote for example in examples if example.context for hit in example.context.hits]
    gold = [[item for item, grade in (example.reference.relevant or {}).items() if grade > 0] for example in examples]
    gold_counts = [len(items) for items in gold if items]
    references = [example.reference for example in examples]
    texts: dict[str, list[str | None]] = {
        "words per question": [example.query.text for example in examples],
        "words per short answer": [reference.short_answer for reference in references],
        "words per answer": [reference.answer for reference in references],
    }
    lengths = {measure: [words_in(text) for text in of if text] for measure, of in texts.items()}
    counted: dict[str, Sequence[float]] = {
        **lengths,
        "gold quotes per question": gold_counts,
        "gold pages per question": [len(set(reference.pages)) for reference in references if reference.pages],
    }
    documents = {example.document for example in examples if example.document is not None}
    return CorpusStatistics(
        name,
        {
            "questions": len(examples),
            **({"documents": len(documents)} if documents else {}),
            **_gold_kinds(examples),
            **_kinds(candidates),
        },
        {**{measure: Distribution(values) for measure, values in counted.items() if values}, **_lengths(candidates)},
        _groups(examples),
        _places(examples),
    )


def _kinds(quotes: Sequence[Quote]) -> dict[str, int]:
    kinds = Counter(quote.kind for quote in quotes)
    return {f"{kind} quotes": kinds[kind] for kind in ("text", "image")} if quotes else {}


def _gold_kinds(examples: Sequence[Example]) -> dict[str, int]:
    kinds = Counter(kind for example in examples for kind in (own_gold(example) or {}).values())
    return {f"gold {kind} quotes": kinds[kind] for kind in ("text", "image") if kinds[kind]}


def _lengths(quotes: Sequence[Quote]) -> dict[str, Distribution]:
    """Words and tokens per quote, by view; tokens are estimated without a tokenizer."""
    distributions = {}
    for view, text_of in VIEWS.items():
        texts = [text for quote in quotes if (text := text_of(quote)) is not None]
        if texts:
            distributions[f"words per {view}"] = Distribution([words_in(text) for text in texts])
            distributions[f"tokens (estimated) per {view}"] = Distribution([estimate_tokens(text) for text in texts])
    return distributions


def _groups(examples: Sequence[Example]) -> dict[str, dict[str, int]]:
    question_counts: dict[str, Counter[str]] = {}
    for example in examples:
        for name, groups in groups_of(example).items():
            question_counts.setdefault(name, Counter()).update(dict.fromkeys(groups, 1))
    return {
        name: {group: counts[group] for group in ordered(sorted(counts))} for name, counts in question_counts.items()
    }


def _places(examples: Sequence[Example]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for example in examples:
        gold = gold_of(Prediction(example=example.id, scope="context"), example)
        counts.update([] if gold is None else list(gold.places()))
    return {place: counts[place] for place in sorted(counts, key=text_first)}


def corpus_tables(corpus: CorpusStatistics) -> list[Table]:
    """Tables of counts and distributions, then one for each breakdown of the questions, and one of gold by place."""
    total = corpus.counts.get("questions", 0)
    distributions = [
        (Cell(text=name), *(Cell(text=_number(value)) for value in distribution.summary().values()))
        for name, distribution in corpus.distributions.items()
    ]
    tables = [
        Table(title=corpus.name, head=("what", "number"), rows=_count_rows(corpus.counts)),
        Table(title="Distributions", head=("what", *Distribution(()).summary()), rows=tuple(distributions)),
    ]
    for name, groups in corpus.groups.items():
        rows = [
            (Cell(text=group_label(group)), Cell(text=_number(count)), Cell(text=f"{half_up(100 * count / total, 1)}"))
            for group, count in groups.items()
        ]
        label = breakdown_label(name)
        tables.append(Table(title=f"Questions by {label}", head=(label, "questions", "%"), rows=tuple(rows)))
    if corpus.gold_at:
        tables.append(
            Table(title="Gold quotes by place", head=("place", "gold quotes"), rows=_count_rows(corpus.gold_at))
        )
    return [table for table in tables if table.rows]


def every_place(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts, with 0 for each missing place between the first and the last of its kind.

    >>> every_place({"text1": 2, "text3": 1, "image2": 4})
    {'text1': 2, 'text2': 0, 'text3': 1, 'image1': 0, 'image2': 4}
    """
    last = {place.rstrip("0123456789"): text_first(place)[1] for place in sorted(counts, key=text_first)}
    return {
        place: counts.get(place, 0)
        for kind, most in last.items()
        for place in (f"{kind}{number}" for number in range(1, most + 1))
    }


def _count_rows(counts: Mapping[str, int]) -> tuple[tuple[Cell, ...], ...]:
    return tuple((Cell(text=name), Cell(text=_number(count))) for name, count in counts.items())


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


_BINS = 24
_PER_DOCUMENT = tuple(f"{measure} per document" for measure in ("pages", "words", "image quotes", "text quotes"))
_PER_QUESTION = ("words per question", "words per short answer", "words per answer", "gold quotes per question")


def corpus_plots(corpus: CorpusStatistics) -> list[Plot]:
    """The plots for which there are data. Raises MissingExtra without matplotlib."""
    drawn = [
        _histogram_plot(corpus, _PER_DOCUMENT, "documents", "How long documents are (MMDocRAG's Figure 4)"),
        _length_plots(corpus),
        _histogram_plot(corpus, _PER_QUESTION, "questions", "Questions and their answers"),
        *(
            _bar_plot(groups, f"questions-by-{name.replace('_', '-')}", f"Questions by {breakdown_label(name)}")
            for name, groups in corpus.groups.items()
        ),
        _bar_plot(every_place(corpus.gold_at), "gold-by-place", "Gold quotes by their place in the context"),
    ]
    return [plot for plot in drawn if plot is not None]


def _histogram_plot(corpus: CorpusStatistics, names: Sequence[str], unit: str, title: str) -> Plot | None:
    """A histogram for each named distribution that there is; `unit` is what is counted, and the file's name."""
    distributions = [(name, corpus.distributions[name]) for name in names if name in corpus.distributions]
    if not distributions:
        return None
    with style(unit):
        figure, axes = panels(len(distributions), height=1.9, extra=0.3, columns=2, common=False)
        for axis, (name, distribution) in zip(axes, distributions, strict=True):
            axis.hist(distribution.values, bins=_bins(distribution.values), color=BAR)
            axis.locator_params(axis="x", nbins=5, integer=True, min_n_ticks=1)
            axis.locator_params(axis="y", integer=True)
            _draw_median(axis, distribution)
            axis.set(xlabel=name, ylabel=unit)
        return make_plot(figure, unit, title=title, says="The dashed line is the median.")


def _length_plots(corpus: CorpusStatistics) -> Plot | None:
    """Distribution of the words per quote as lines, and as boxes (Figure 5)."""
    prefix = "words per "
    views = [name for name in corpus.distributions if name.startswith(prefix) and "quote" in name]
    if not views:
        return None
    with style("words-per-quote"):
        figure, axes = panels(2, height=2.6, extra=0.3, columns=2, common=False)
        edge = max(sorted(corpus.distributions[name].values)[int(0.98 * (len(corpus.distributions[name].values) - 1))]
                   for name in views) or 1  # fmt: skip
        bins = [edge * step / _BINS for step in range(_BINS + 1)]
        for position, name in enumerate(views):
            values, colour = corpus.distributions[name].values, COLOURS[position % len(COLOURS)]
            weights = [100 / len(values)] * len(values)
            label = name.removeprefix(prefix)
            axes[0].hist(values, bins=bins, weights=weights, histtype="step", color=colour, linewidth=1.4, label=label)
        axes[0].set(xlabel="words per quote", ylabel="quotes, %")
        boxes = [corpus.distributions[name].values for name in views]
        drawn = axes[1].boxplot(boxes, orientation="horizontal", showfliers=False, patch_artist=True, widths=0.55)
        for position, (box, line) in enumerate(zip(drawn["boxes"], drawn["medians"], strict=True)):
            box.set(facecolor=COLOURS[position % len(COLOURS)], alpha=0.55, edgecolor=INK)
            line.set(color=INK)
        axes[1].set_yticks(range(1, len(views) + 1), [name.removeprefix(prefix) for name in views])
        axes[1].set(xlabel="words per quote")
        axes[1].invert_yaxis()
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
        return make_plot(
            figure,
            "words-per-quote",
            title="How long quotes are (MMDocRAG's Figure 5)",
            says="On the left the share of quotes of each length, up to the length that 98 % of the longest kind "
            "have; on the right median, quartiles, and the last values within 1.5 times their distance.",
        )


def _bar_plot(counts: Mapping[str, int], file: str, title: str) -> Plot | None:
    if not counts:
        return None
    from matplotlib.figure import Figure

    with style(file):
        figure = Figure(figsize=(WIDTH, 0.7 + 0.21 * len(counts)))
        axis = figure.subplots()
        axis.barh(range(len(counts)), list(counts.values()), height=0.66, color=BAR)
        for position, count in enumerate(counts.values()):
            axis.annotate(f" {count:,}", (count, position), va="center", color=INK)
        axis.set_yticks(range(len(counts)), [shortened(group_label(name)) for name in counts])
        axis.set(ylim=(len(counts) - 0.4, -0.6), xlim=(0, 1.12 * max(counts.values())))
        axis.locator_params(axis="x", integer=True)
        axis.grid(visible=False, axis="y")
        return make_plot(figure, file, title=title)


def _bins(values: Sequence[float]) -> list[float] | int:
    """One bin for each number if they are few, else `_BINS`."""
    least, most = int(min(values)), int(max(values))
    return [number - 0.5 for number in range(least, most + 2)] if most - least < _BINS else _BINS


def _draw_median(axis: Any, distribution: Distribution) -> None:
    axis.axvline(distribution.summary()["median"], color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
