"""Questions as people ask them, over real documents: how often they are answered without a model, and rightly.

`natural_questions.jsonl` holds questions that we wrote, each asked within its document. Where one was answered, we read
the answer beside its page and judged it, `right` or `wrong`. A question that is answered now and has no judgement is
counted as not judged; the answers are printed, so that anyone can judge them.
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

QUESTIONS = Path(__file__).with_name("natural_questions.jsonl")


class Asked(BaseModel):
    """A question, and how its answer was judged."""

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
    counts, told = Counter[str](), list[dict[str, str]]()
    with collection_of([mmdocir(), mmdocir().parent / "mmlongbench"], options) as collection:
        search, generator = search_of(collection), ExtractiveGenerator()
        for asked in map(Asked.model_validate_json, lines):
            context = found_for(search, asked.question, asked.document)
            answer = run_sync(generator.answer(Query(text=asked.question), context))
            counts[answer.status] += 1
            if answer.status == "answered":
                judged = asked.judged or "not judged"
                counts[judged] += 1
                told.append({"question": asked.question, "judged": judged, "answer": answer.text})
    rows = [[name, str(counts[name])] for name in (*OUTCOMES, "right", "wrong", "not judged")]
    if not options.json:
        print(*(f"{one['question']} [{one['judged']}]\n{one['answer']}" for one in told), sep="\n\n", end="\n\n")
    tables = [Table(f"{len(lines)} questions as people ask them", ["", "n"], rows)]
    finish(found, {"counts": counts, "answers": told}, tables, as_json=options.json)


if __name__ == "__main__":
    main()
