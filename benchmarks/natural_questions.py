"""Questions as people ask them, over real documents: how often they are answered without a model, and rightly.

`natural_questions.jsonl` holds questions that we wrote, each asked within its document. Where one was answered, we read
the answer beside its page and judged it, `right` or `wrong`. A question that is answered now and has no judgement is
counted as not judged; the answers are printed, so that anyone can judge them.

The generator's rules were made while looking at the `first`, and changed after the answers to the `second` and `third`
had been read; the `fourth` were written after that, and but for one rule (that an acronym in brackets explains nothing)
nothing was changed by their answers.
"""

from collections import Counter
from pathlib import Path
from typing import Literal

from answer_rows import found_for, search_of
from answer_tables import OUTCOMES
from common import Table, add_collection_options, arguments, collection_of, finish, machine, mmdocir
from pydantic import BaseModel

from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Query
from quoteweave.generation.extractive import ExtractiveGenerator

SETS = ("first", "second", "third", "fourth")
QUESTIONS = Path(__file__).with_name("natural_questions.jsonl")


class Asked(BaseModel):
    """A question, and how its answer was judged."""

    set: Literal["first", "second", "third", "fourth"]
    question: str
    document: str
    judged: Literal["right", "wrong"] | None = None


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    options = parser.parse_args()
    found = machine()
    lines = QUESTIONS.read_text("utf-8").splitlines()
    counts, told = Counter[tuple[str, str]](), list[dict[str, str]]()
    with collection_of([mmdocir(), mmdocir().parent / "mmlongbench"], options) as collection:
        search, generator = search_of(collection), ExtractiveGenerator()
        for asked in map(Asked.model_validate_json, lines):
            context = found_for(search, asked.question, asked.document)
            answer = run_sync(generator.answer(Query(text=asked.question), context))
            counts[asked.set, answer.status] += 1
            if answer.status == "answered":
                judged = asked.judged or "not judged"
                counts[asked.set, judged] += 1
                told.append({"set": asked.set, "question": asked.question, "judged": judged, "answer": answer.text})
    names = (*OUTCOMES, "right", "wrong", "not judged")
    rows = [[each, *(str(counts[each, name]) for name in names)] for each in SETS]
    if not options.json:
        print(*(f"{one['question']} [{one['judged']}]\n{one['answer']}" for one in told), sep="\n\n", end="\n\n")
    tables = [Table(f"{len(lines)} questions as people ask them", ["set", *names], rows)]
    figures = {each: {name: counts[each, name] for name in names} for each in SETS}
    finish(found, {"counts": figures, "answers": told}, tables, as_json=options.json)


if __name__ == "__main__":
    main()
