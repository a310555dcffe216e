"""Answers without a model: how often they cite what holds the answer, how often they say it, and what they decline.

Every question of MMLongBench-Doc, and those of MMDocIR, which have gold boxes, is asked within its document, with the
default retriever and the context that `quoteweave ask` gives a generator. All tables are made from rows, one for each
question, which `--json` prints too. Means, and differences paired by question, have 95 % intervals over documents.
`answer_rows.AnswerRow` says what each figure counts.

`--sentence-scorer` names a model that orders sentences, as for `quoteweave ask`.

`--leave-out` measures instead whether the constants of the generator fit these documents by luck: see
`left_out_answers.py`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from answer_rows import AnswerRow, answer_rows, asked_within, examples, read_rows
from answer_tables import (
    Figures,
    answer_tables,
    benchmark_scores,
    difference_tables,
    differences_of,
    figures_of,
    groups_of,
    kinds_of,
    times_of,
)
from common import add_collection_options, arguments, collection_of, machine, print_results, research_folders
from left_out_answers import left_out, left_out_table

from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.composition.sentence_scorers import make_sentence_scorer


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    parser.add_argument("--before", type=Path, metavar="FILE", help="compare with this earlier output of --json")
    parser.add_argument(
        "--sentence-scorer", metavar="NAME", help="what orders sentences, such as minilm; none if not said"
    )
    parser.add_argument("--leave-out", action="store_true", help="choose constants on all documents but one, in turn")
    options = parser.parse_args()
    if options.leave_out and options.sentence_scorer:
        parser.error("--leave-out varies constants of the generator without a model: leave out --sentence-scorer")
    host, before = machine(), read_rows(options.before) if options.before else []
    with collection_of(research_folders(), options) as collection:
        questions = asked_within(collection, examples())
    if options.leave_out:
        chosen = left_out(questions)
        figures: dict[str, object] = {"left_out": [example.model_dump() for example in chosen]}
        print_results(host, figures, [left_out_table(chosen)], options)
        return
    scorer = make_sentence_scorer(options.sentence_scorer) if options.sentence_scorer else None
    rows = list(answer_rows(questions, ExtractiveGenerator(scorer=scorer)))
    old = groups_of(before)
    compared = {
        name: differences_of(group_rows, old[name]) for name, group_rows in groups_of(rows).items() if old[name]
    }
    tables = [*answer_tables(rows), *(difference_tables(f"less {options.before}", compared) if before else [])]
    print_results(host, _figures(rows, compared), tables, options)


def _figures(rows: Sequence[AnswerRow], compared: Mapping[str, Figures]) -> dict[str, object]:
    groups = groups_of(rows)
    kinds = kinds_of(groups["MMLongBench-Doc, answerable"])
    return {
        "figures": {name: _plain(figures_of(group_rows)) for name, group_rows in groups.items()},
        "by": {
            by: {name: _plain(figures_of(group_rows)) for name, group_rows in kind.items()}
            for by, kind in kinds.items()
        },
        "scores": benchmark_scores(rows),
        "milliseconds": times_of(rows),
        "differences_from_before": {name: _plain(differences) for name, differences in compared.items()},
        "rows": [row.model_dump() for row in rows],
    }


def _plain(figures: Figures) -> dict[str, object]:
    return {name: interval and interval.model_dump() for name, interval in figures.items()}


if __name__ == "__main__":
    main()
