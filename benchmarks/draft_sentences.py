"""How well the rule finds the sentences of a draft that need a source, on sentences judged by hand.

They are in `draft_sentences.jsonl`. A *claim* states something that a source could support. Other sentences are
questions, instructions, headings, plans, the author's own work or opinion, or about the text itself. Each sentence was
written before the part of the rule (`quoteweave.attribution.drafts.post_hoc`) that is about sentences of its kind; no
part was written for those marked `later`. *Figures or names* is the gate's narrower rule, which requires a number, a
date, quoted words or a name.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from common import Table, arguments, machine, percent, print_results
from pydantic import Field

from quoteweave.attribution.drafts.post_hoc import is_statement
from quoteweave.core.records import Record
from quoteweave.generation.gate.sentence_check import is_factual

SENTENCES = Path(__file__).with_name("draft_sentences.jsonl")
RULES: dict[str, Callable[[str], bool]] = {"figures or names": is_factual, "statements": is_statement}


class Sentence(Record):
    """A sentence of a draft."""

    text: str
    claim: bool = Field(description="whether a source could support it")
    kind: str = Field(description="what it is like")
    later: bool = Field(default=False, description="whether no part of the rule was written for it")


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__)
    parser.add_argument("--misses", action="store_true", help="print each sentence that the rule judges wrongly")
    options = parser.parse_args()
    host = machine()
    sentences = [Sentence.model_validate_json(line) for line in SENTENCES.read_text("utf-8").splitlines()]
    rows, figures = [], {}
    for name, rule in RULES.items():
        for later in (False, True):
            label = f"{name}, {'set aside' if later else 'seen'}"
            counts = _counts([sentence for sentence in sentences if sentence.later == later], rule)
            figures[label] = counts
            right, accepted, claims = counts["right"], counts["taken"], counts["claims"]
            rows.append([label, str(claims), str(accepted), percent(right / accepted), percent(right / claims)])
    columns = ("rule", "claims", "taken for claims", "precision", "recall")
    tables = [Table(f"{len(sentences)} sentences of drafts", columns, rows)]
    if options.misses:
        wrong = [
            [sentence.kind, sentence.text] for sentence in sentences if is_statement(sentence.text) != sentence.claim
        ]
        tables.append(Table("judged wrongly", ("kind", ""), wrong))
    print_results(host, figures, tables, options)


def _counts(sentences: Sequence[Sentence], rule: Callable[[str], bool]) -> dict[str, int]:
    accepted = [sentence for sentence in sentences if rule(sentence.text)]
    return {
        "claims": sum(sentence.claim for sentence in sentences),
        "taken": len(accepted),
        "right": sum(sentence.claim for sentence in accepted),
    }


if __name__ == "__main__":
    main()
