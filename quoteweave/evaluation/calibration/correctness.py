"""Decide which answers count as correct, and which questions are answerable."""

from collections.abc import Mapping

from quoteweave.core.answers import Citation
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, request_hash
from quoteweave.evaluation.metrics.gold import gold_of

CORRECT = 2
"""The accuracy that a judge gives to an answer that is right."""


def answerable(example: Example) -> bool:
    """Whether the question is answerable: not where the dataset has no answer or nothing relevant for it."""
    reference = example.reference
    if reference.answer_format == "none":
        return False
    named = reference.pages or reference.boxes or reference.layouts
    nothing = reference.relevant is not None and not any(grade > 0 for grade in reference.relevant.values())
    return bool(named) or not nothing


def cites_gold(prediction: Prediction, example: Example) -> bool | None:
    """Whether the answer is right: it cites a gold quote, or a gold page where these alone are known.

    To answer what is not to be answered is wrong. None for what failed or abstains, and where it cannot be known which
    quotes are gold.
    """
    if not _answers(prediction):
        return None
    if not answerable(example):
        return False
    cited = prediction.answer.citations if prediction.answer else ()
    gold = gold_of(prediction, example)
    if gold is not None and gold.kinds:
        return any(gold.item(one.kind, one.number) in gold.kinds for one in cited)
    if example.reference.pages and example.document is not None:
        return any(_on_gold_page(one, example) for one in cited)
    return None


def judged_correct(prediction: Prediction, example: Example, verdicts: Mapping[str, EvidenceVerdict]) -> bool | None:
    """Whether a judge calls the answer right, against the gold answer; otherwise as `cites_gold`.

    None also where the judge did not see this answer, or gave it no score.
    """
    if not _answers(prediction):
        return None
    if not answerable(example):
        return False
    verdict = verdicts.get(example.id)
    if verdict is None or verdict.accuracy is None or verdict.accuracy.score is None:
        return None
    return verdict.accuracy.score >= CORRECT if verdict.request == request_hash(prediction, example) else None


def _answers(prediction: Prediction) -> bool:
    return prediction.answer is not None and prediction.answer.status == "answered"


def _on_gold_page(citation: Citation, example: Example) -> bool:
    """Whether a citation is on a gold page; documents match with or without the file's suffix."""
    names = {citation.document, citation.document.rpartition(".")[0]}
    return citation.page in example.reference.pages and example.document in names
