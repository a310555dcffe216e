"""Questions as people ask them, over real documents: how often they are answered without a model, and rightly.

`natural_questions.jsonl` has questions that we wrote, each asked within its document. If one was answered, we compared
the answer with its page and judged it, `right` or `wrong`. A question that is answered now and has no judgement is
counted as not judged; the answers are printed, so that anyone can judge them.

The generator's rules were made with the `first` set in view, and changed after the answers to the `second` and `third`
had been read. The `fourth` set was written after that, and until 2026-11-26 its answers changed nothing but one rule
(that an acronym in brackets explains nothing). Then, on 2026-11-27 and on 2026-11-29, rules were made stricter because
of wrong answers to all sets, so the low number of those that are left flatters the rules.

With `--small`, questions of `small_questions.jsonl` are asked instead, over a folder of 37 small documents: the
samples, the pages that `made_highlight_pages.py` draws, and texts of our own (`small_documents/`). Each is asked over
the folder (`folder`), and over its document alone in a collection of its own (`alone`). Questions about nothing in the
documents are asked over the folder and over each of three documents alone. An answer is right if it has all words in
`says`, and a located question is `shown` if the places have them; a question about something else is right if it is
declined. The rules were changed after the answers to the `first` and the `third` set had been read; one rule was made
after those to the `second`.

With `--foreign`, questions of `foreign_questions.jsonl` are asked over the documents of their language
(`foreign_documents/`, four of each) and judged in the same way.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from answer_rows import found_for, search_of, without_marks
from answer_tables import OUTCOMES
from common import (
    Machine,
    Table,
    add_collection_options,
    arguments,
    collection_of,
    machine,
    print_results,
    research_folders,
    working_folder,
)
from made_highlight_pages import make_pages
from pydantic import BaseModel

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Query
from quoteweave.documents.ingest import add
from quoteweave.generation.extractive.generator import ExtractiveGenerator

SETS = ("first", "second", "third", "fourth")
QUESTIONS = Path(__file__).with_name("natural_questions.jsonl")
SMALL_QUESTIONS = Path(__file__).with_name("small_questions.jsonl")
FOREIGN_QUESTIONS = Path(__file__).with_name("foreign_questions.jsonl")
FOREIGN_DOCUMENTS = Path(__file__).with_name("foreign_documents")
SMALL_DOCUMENTS = Path(__file__).with_name("small_documents")
SAMPLES = Path(__file__).parents[1] / "quoteweave" / "samples" / "pdf"
ALONE = ("plan.md", "leave-policy.html", "travel-policy.pdf")
"""Documents over each of which, alone, questions about something else are asked."""


class Asked(BaseModel):
    """A question, and how its answer was judged."""

    set: Literal["first", "second", "third", "fourth"]
    question: str
    document: str
    judged: Literal["right", "wrong"] | None = None


class SmallAsked(BaseModel):
    """A question over small documents, and the words that a right answer has."""

    set: Literal["first", "second", "third", "fourth"]
    question: str
    document: str | None
    """None for a question about nothing in the documents."""
    says: tuple[str, ...]
    language: str = "en"

    def judge(self, answer: Answer) -> str:
        """How it was judged, as the docstring above says; `abstained` or `located` where nothing is right or wrong."""
        if self.document is None:
            return "right" if answer.status == "abstained" else answer.status
        text = " ".join(without_marks(answer.text).split()).casefold()
        says = all(word.casefold() in text for word in self.says)
        if answer.status == "located":
            return "shown" if says else "located"
        return answer.status if answer.status == "abstained" else "right" if says else "wrong"


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--small", action="store_true", help="ask over small documents, which are made for it")
    group.add_argument("--foreign", action="store_true", help="ask in other languages than English")
    options = parser.parse_args()
    host = machine()
    if options.small or options.foreign:
        (_ask_small if options.small else _ask_foreign)(host, options)
        return
    lines = QUESTIONS.read_text("utf-8").splitlines()
    counts, answers = Counter[tuple[str, str]](), list[dict[str, str]]()
    with collection_of(research_folders(), options) as collection:
        search, generator = search_of(collection), ExtractiveGenerator()
        for question in map(Asked.model_validate_json, lines):
            context = found_for(search, question.question, question.document)
            answer = run_sync(generator.answer(Query(text=question.question), context))
            counts[question.set, answer.status] += 1
            if answer.status == "answered":
                judged = question.judged or "not judged"
                counts[question.set, judged] += 1
                answers.append(
                    {"set": question.set, "question": question.question, "judged": judged, "answer": answer.text}
                )
    names = (*OUTCOMES, "right", "wrong", "not judged")
    rows = [[set_name, *(str(counts[set_name, name]) for name in names)] for set_name in SETS]
    if not options.json:
        print(
            *(f"{answer['question']} [{answer['judged']}]\n{answer['answer']}" for answer in answers),
            sep="\n\n",
            end="\n\n",
        )
    tables = [Table(f"{len(lines)} questions as people ask them", ["set", *names], rows)]
    figures = {set_name: {name: counts[set_name, name] for name in names} for set_name in SETS}
    print_results(host, {"counts": figures, "answers": answers}, tables, options)


def _ask_small(host: Machine, options: argparse.Namespace) -> None:
    small_questions = [SmallAsked.model_validate_json(line) for line in SMALL_QUESTIONS.read_text("utf-8").splitlines()]
    with working_folder(None) as folder:
        make_pages(folder)
        files = [SAMPLES, SMALL_DOCUMENTS, *sorted(folder.glob("*.pdf"))]
        by_name = {path.name: path for path in [*SAMPLES.iterdir(), *SMALL_DOCUMENTS.iterdir(), *files[2:]]}
        scopes = [Scope("folder", files, small_questions)]
        for name in sorted({*ALONE, *(question.document for question in small_questions if question.document)}):
            document_questions = [
                question
                for question in small_questions
                if question.document == name or (question.document is None and name in ALONE)
            ]
            scopes.append(Scope("alone", [by_name[name]], document_questions))
        _ask_scopes(folder, scopes, host, options)


def _ask_foreign(host: Machine, options: argparse.Namespace) -> None:
    foreign_questions = [
        SmallAsked.model_validate_json(line) for line in FOREIGN_QUESTIONS.read_text("utf-8").splitlines()
    ]
    with working_folder(None) as folder:
        scopes = [
            Scope(
                language,
                sorted(FOREIGN_DOCUMENTS.glob(f"{language}-*")),
                [question for question in foreign_questions if question.language == language],
            )
            for language in sorted({question.language for question in foreign_questions})
        ]
        _ask_scopes(folder, scopes, host, options)


class Scope(NamedTuple):
    """Documents, and the questions that are asked over them."""

    name: str
    paths: Sequence[Path]
    asked: Sequence[SmallAsked]


def _ask_scopes(folder: Path, scopes: Sequence[Scope], host: Machine, options: argparse.Namespace) -> None:
    """Ask the questions of each scope over a collection of its own, and print how they are answered."""
    counts, answers = Counter[tuple[str, str]](), list[dict[str, str]]()
    for at, scope in enumerate(scopes):
        for question, judged, text in _answers(folder / f"collection-{at}", scope.paths, scope.asked):
            group = f"{question.set}{'' if question.document else ', about something else'}, {scope.name}"
            counts[group, judged] += 1
            answers.append({"group": group, "question": question.question, "judged": judged, "answer": text})
    if not options.json:
        print(
            *(
                f"{answer['question']} [{answer['group']}: {answer['judged']}]\n{answer['answer']}"
                for answer in answers
            ),
            sep="\n\n",
            end="\n\n",
        )
    groups, names = (
        sorted({group for group, _ in counts}),
        ("right", "wrong", "answered", "shown", "located", "abstained"),
    )
    rows = [[group, *(str(counts[group, name]) for name in names)] for group in groups]
    figures = {group: {name: counts[group, name] for name in names} for group in groups}
    tables = [Table("Questions over small documents", ["", *names], rows)]
    print_results(host, {"counts": figures, "answers": answers}, tables, options)


def _answers(place: Path, paths: Sequence[Path], questions: Sequence[SmallAsked]) -> list[tuple[SmallAsked, str, str]]:
    """Each question with how its answer is judged, and its text."""
    generator, answered = ExtractiveGenerator(), []
    with Collection.open_or_create(place) as collection:
        add(collection, paths)
        search = search_of(collection)
        for question in questions:
            answer = run_sync(
                generator.answer(Query(text=question.question), found_for(search, question.question, None))
            )
            answered.append((question, question.judge(answer), answer.text))
    return answered


if __name__ == "__main__":
    main()
