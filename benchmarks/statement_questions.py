"""Questions about cells of financial statements in three annual reports: how often the right cell is given.

`statement_questions.jsonl` has questions that we wrote from the text of randomly chosen pages, before any was asked,
with the amount that each asks for. Each is asked within its document, without a model. An answer is right if it says
the amount; a located question counts as shown if one of the places has it.
"""

from collections import Counter
from pathlib import Path

from answer_rows import found_for, search_of, without_marks
from common import Table, add_collection_options, arguments, collection_of, machine, print_results, research_folders
from pydantic import BaseModel

from quoteweave.core.answers import Answer
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.records import Query
from quoteweave.generation.extractive.generator import ExtractiveGenerator

QUESTIONS = Path(__file__).with_name("statement_questions.jsonl")
OUTCOMES = ("right", "wrong", "shown", "located", "abstained")


class Asked(BaseModel):
    """A question, the name of its document, and the amount that it asks for, in each form that the document has."""

    question: str
    document: str
    says: tuple[str, ...]

    def judge(self, answer: Answer) -> str:
        """One of `OUTCOMES`."""
        says = any(amount in without_marks(answer.text) for amount in self.says)
        if answer.status == "answered":
            return "right" if says else "wrong"
        return "shown" if answer.status == "located" and says else answer.status


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    add_collection_options(parser)
    options = parser.parse_args()
    host = machine()
    questions = [Asked.model_validate_json(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    answers, counts = list[dict[str, str]](), Counter[tuple[str, str]]()
    with collection_of(research_folders(), options) as collection:
        search, generator = search_of(collection), ExtractiveGenerator()
        for question in questions:
            context = found_for(search, question.question, question.document)
            answer = run_sync(generator.answer(Query(text=question.question), context))
            judged = question.judge(answer)
            counts.update([(question.document, judged), ("all", judged)])
            answers.append({"question": question.question, "judged": judged, "answer": answer.text})
    if not options.json:
        print(
            *(f"{answer['question']} [{answer['judged']}]\n{answer['answer']}" for answer in answers),
            sep="\n\n",
            end="\n\n",
        )
    documents = [*sorted({question.document for question in questions}), "all"]
    rows = [[document, *(str(counts[document, outcome]) for outcome in OUTCOMES)] for document in documents]
    figures = {document: {outcome: counts[document, outcome] for outcome in OUTCOMES} for document in documents}
    tables = [Table(f"{len(questions)} questions for cells of statements", ["", *OUTCOMES], rows)]
    print_results(host, {"counts": figures, "answers": answers}, tables, options)


if __name__ == "__main__":
    main()
