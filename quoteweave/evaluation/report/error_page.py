"""A page on which people label the kinds of error in saved answers: one HTML file that loads nothing from elsewhere."""

import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path

from quoteweave.core.errors import DatasetError, StorageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.files.templates import open_template, policy_hash
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.error_judge import ERROR_KINDS, ErrorKind, answer_hash, describe_search
from quoteweave.evaluation.report.questions import LONGEST, PictureReader, ShownQuote, shown_quotes
from quoteweave.evaluation.text.responses import answer_of

_TEMPLATES = Path(__file__).parent / "templates"
Pair = tuple[Prediction, Example]


class LabelledAnswer(Record):
    """One answer, as the page shows it."""

    id: str
    sha256: str
    question: str
    answer: str
    cut: int
    gold_answer: str
    quotes: tuple[ShownQuote, ...]


def sample_pairs(pairs: Sequence[Pair], number: int | None, seed: int = 0) -> list[Pair]:
    """So many answers drawn by the seed, in their order; all for None. Answers that failed are left out.

    Raises DatasetError where none is left.
    """
    answered = [pair for pair in pairs if pair[0].error is None and pair[0].response is not None]
    if not answered:
        raise DatasetError("there is no answer to label: all failed, or only quotes were retrieved")
    if number is None or number >= len(answered):
        return answered
    chosen = sorted(random.Random(seed).sample(range(len(answered)), number))
    return [answered[place] for place in chosen]


def write_error_page(
    pairs: Sequence[Pair],
    path: Path,
    *,
    run: str,
    kinds: Sequence[ErrorKind] = ERROR_KINDS,
    pictures: PictureReader | None = None,
) -> set[str]:
    """Write the page for these answers. Labels are kept in the browser, and exported as JSON Lines.

    Returns the pictures that the quotes name and that cannot be shown. Raises StorageError where the file cannot be
    written.

        >>> examples = load_dataset("mmdocrag-20", Path("gold.jsonl"))
        >>> pairs = list(zip(load_predictions(Path("ours.jsonl")), examples, strict=True))
        >>> write_error_page(pairs, Path("errors.html"), run="ours")
        set()
    """
    lost: set[str] = set()

    def read(name: str | None) -> str | None:
        found = None if pictures is None else pictures(name)
        if found is None and name is not None:
            lost.add(name)
        return found

    answers = [_shown(*pair, read) for pair in pairs]
    try:
        path.write_bytes(error_page(answers, run, kinds).encode("utf-8", "replace"))
    except OSError as error:
        raise StorageError(f"{path} cannot be written ({error.strerror or error})") from error
    return lost


def error_page(answers: Sequence[LabelledAnswer], run: str, kinds: Sequence[ErrorKind] = ERROR_KINDS) -> str:
    """The HTML document. What answers and quotes say stands in it as data, and is never read as HTML."""
    from markupsafe import Markup

    data = {
        "kinds": [kind.model_dump(mode="json") for kind in kinds],
        "answers": [answer.model_dump(mode="json") for answer in answers],
    }
    # The data stand in a script element, which "</script" or "<!--" would end or change; these can stand in no string.
    held = json.dumps(data, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    style, script = ((_TEMPLATES / f"errors.{kind}").read_text("utf-8") for kind in ("css", "js"))
    policy = f"default-src 'none'; img-src data:; style-src {policy_hash(style)}; script-src {policy_hash(script)}"
    return open_template(_TEMPLATES, "errors.html.j2").render(
        title=f"Errors in {run}",
        policy=policy,
        key=hashlib.sha256(held.encode()).hexdigest()[:16],
        style=Markup(style),  # noqa: S704  # a file of ours
        script=Markup(script),  # noqa: S704  # a file of ours
        data=Markup(held),  # noqa: S704  # escaped above
    )


def _shown(prediction: Prediction, example: Example, pictures: PictureReader) -> LabelledAnswer:
    search = prediction.paper_search
    said = answer_of(prediction.response or "", "own").strip()
    # A search is bounded as it is, and its end says what was selected.
    steps = describe_search(search) if search is not None and search.steps else None
    return LabelledAnswer(
        id=example.id,
        sha256=answer_hash(prediction),
        question=example.query.text,
        answer=said[:LONGEST] if steps is None else steps,
        cut=max(0, len(said) - LONGEST) if steps is None else 0,
        gold_answer=example.reference.answer or example.reference.short_answer or "",
        quotes=tuple(shown_quotes(prediction, example, pictures)),
    )
