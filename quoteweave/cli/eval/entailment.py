"""`quoteweave eval entailment`: whether what answers cite entails what they say, by a model on this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from quoteweave.cli.eval.paid import judgements_path
from quoteweave.cli.eval.score_tables import show
from quoteweave.cli.options.collection import JsonOption
from quoteweave.cli.options.evaluation import DatasetOption, PartialOption, ReferencesOption, RunArgument
from quoteweave.cli.options.settings import BatchSizeOption, DeviceOption
from quoteweave.core.errors import MissingExtra, ModelNotFound
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.protocols import Entailment
from quoteweave.evaluation.metrics.citations.alce import Alce, ClaimRecall, alce_responses, claim_responses
from quoteweave.evaluation.metrics.citations.aliice import Aliice, CitationSpread, aliice_responses
from quoteweave.evaluation.metrics.citations.cited_claims import (
    CachedEntailment,
    CitedResponse,
    context_of,
    entailments,
)
from quoteweave.evaluation.metrics.citations.published_responses import (
    ALCE_FIRST,
    ALIICE_PASSAGES,
    published_alce_responses,
    published_aliice_responses,
)
from quoteweave.evaluation.metrics.metric import Convention, Metric
from quoteweave.evaluation.scoring.saved_runs import (
    DEFAULT_GRAMMAR,
    OTHER_CONVENTION,
    LoadedRun,
    ScoringRequest,
    load_run,
)
from quoteweave.evaluation.scoring.scorer import ScoringSettings, convention_differences, score_predictions
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.intervals import Intervals, cluster_intervals
from quoteweave.evaluation.text.claims import SentenceSplitter, spacy_parse
from quoteweave.evaluation.text.nltk_rules import punkt_sentences, punkt_splitter
from quoteweave.generation.entailment import make_entailment
from quoteweave.generation.sentences import sentence_texts
from quoteweave.models.checkpoints import Hardware, on_download

VERDICTS = "entailments.jsonl"
JSON = """--json prints what quoteweave eval score prints: name, dataset, convention, questions, failed, missing,
clusters, figures (such as alce.recall, aliice.precision, cvcp.pooled, each with value, ci95, n, clusters, undefined),
breakdowns, notes."""


def entailment(
    run: RunArgument,
    dataset: DatasetOption,
    checkpoint: Annotated[
        str, typer.Option(help="A T5 that answers 1 or 0, or an NLI classifier: folder or hub name.", metavar="NAME")
    ],
    references: ReferencesOption = None,
    parser: Annotated[
        str | None,
        typer.Option(help="A spaCy model, such as en_core_web_sm: take sentences apart (ALiiCE).", metavar="NAME"),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(min=1, help="ALCE: keep the first N citations of a sentence; 3 by the published convention."),
    ] = None,
    convention: Annotated[
        Convention,
        typer.Option(help="published: read and count as the authors' codes do, quirks included (docs/metrics.md)."),
    ] = "strict",
    passages: Annotated[
        int,
        typer.Option(min=1, help="ALiiCE, published: passages allowed per question; the authors' code uses 5."),
    ] = ALIICE_PASSAGES,
    window: Annotated[
        int | None, typer.Option(min=16, help="Tokens that the model is given; premises are cut.", metavar="N")
    ] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16 or float16.", metavar="NAME")] = None,
    device: DeviceOption = None,
    batch_size: BatchSizeOption = None,
    verdict_file: Annotated[
        Path | None,
        typer.Option(
            "--kept", help="File for the model's verdicts; the default is in the run's folder.", metavar="FILE"
        ),
    ] = None,
    both_conventions: Annotated[
        bool, typer.Option("--both", help="Also compute the figures by the other convention.")
    ] = False,
    partial: PartialOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score citations by whether they entail what is said.

    ALCE: of all sentences, how many their citations entail (recall); of the
    citations, how many are needed (precision). With --parser, ALiiCE: the same
    of the claims at each citation. CVCP, shown beside them: how far citations
    are spread over sentences; the model is not asked for it. What the model
    says is kept: the same command again asks nothing twice.
    """
    on_download(lambda line: typer.echo(line, err=True))
    request = ScoringRequest(run=run, dataset=dataset, references=references, metrics=(), partial=partial)
    loaded = load_run(request)
    hardware = Hardware.model_validate({"device": device, "batch_size": batch_size, "dtype": dtype})
    path = judgements_path(run, verdict_file, VERDICTS, option="--kept")
    pairs = _answered_pairs(loaded.examples, loaded.predictions)
    kept_citations = ALCE_FIRST if first is None and convention == "published" else first
    choice = _Choice(parser, kept_citations, convention, passages)
    model = make_entailment(checkpoint, hardware, max_length=window)
    stored_verdicts = CachedEntailment(model, path)
    metrics, notes = _metrics(pairs, stored_verdicts, choice)
    notes = [f"by {model.name}", *model.warnings(), *notes]
    scores = _score(loaded, metrics, choice.convention, request, cluster_intervals)
    if both_conventions:
        other_choice = choice._replace(convention=OTHER_CONVENTION[choice.convention])
        other_metrics, _ = _metrics(pairs, stored_verdicts, other_choice)
        other_scores = _score(loaded, other_metrics, other_choice.convention, request, None)
        notes += convention_differences(scores, other_scores, list(scores.figures))
    show(scores.model_copy(update={"notes": tuple(notes)}), as_json=as_json)


def _score(
    loaded: LoadedRun,
    metrics: Sequence[Metric],
    convention: Convention,
    request: ScoringRequest,
    intervals: Intervals | None,
) -> Scores:
    settings = ScoringSettings(
        name=request.run.name, dataset=request.dataset, convention=convention, marks=DEFAULT_GRAMMAR[convention]
    )
    return score_predictions(
        loaded.examples, loaded.predictions, metrics=metrics, settings=settings, intervals=intervals
    )


def _answered_pairs(examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[tuple[Prediction, Example]]:
    examples_by_id = {example.id: example for example in examples}
    return [(prediction, examples_by_id[prediction.example]) for prediction in predictions if prediction.error is None]


class _Choice(NamedTuple):
    """How responses are read and counted."""

    parser: str | None
    first: int | None
    convention: Convention
    passages: int


def _metrics(
    pairs: Sequence[tuple[Prediction, Example]], model: Entailment, choice: _Choice
) -> tuple[list[Metric], list[str]]:
    """Return the metrics, computed with the model's verdicts, and notes for their readers."""
    published = choice.convention == "published"
    split, notes = _published_splitter() if published else (sentence_texts, [])
    with Console(stderr=True).status("asking the model"):
        sentences, parts = _responses(pairs, split, choice)
        claims = claim_responses(pairs, choice.convention)
        verdicts = entailments([*sentences.values(), *parts.values(), *claims.values()], model)
    metrics: list[Metric] = [Alce(sentences, verdicts, choice.convention), CitationSpread(split, choice.convention)]
    if claims:
        metrics.append(ClaimRecall(claims, verdicts))
    if choice.parser is None:
        notes.append("without --parser sentences are not taken apart: there are no figures of ALiiCE")
    else:
        metrics.insert(1, Aliice(parts, verdicts))
        longest = max((len(context_of(*pair).texts) for pair in pairs), default=0)
        if published and longest > choice.passages:
            notes.append(
                f"aliice: contexts have up to {longest} passages, of which the first {choice.passages} exist, as for "
                f"the authors' code; --passages {longest} counts them all"
            )
    return metrics, notes


Responses = dict[str, CitedResponse]


def _responses(
    pairs: Sequence[tuple[Prediction, Example]], split: SentenceSplitter, choice: _Choice
) -> tuple[Responses, Responses]:
    """Responses by sentence (ALCE) and by the parts of sentences (ALiiCE; empty without a parser), by example."""
    parse = None if choice.parser is None else spacy_parse(choice.parser)
    if choice.convention == "published":
        parts = {} if parse is None else published_aliice_responses(pairs, split, parse, passages=choice.passages)
        return published_alce_responses(pairs, split, first=choice.first), parts
    parts = {} if parse is None else aliice_responses(pairs, split, parse)
    return alce_responses(pairs, split, first=choice.first), parts


def _published_splitter() -> tuple[SentenceSplitter, list[str]]:
    """Punkt if it is installed; otherwise our own rules like it, with a note that says so."""
    try:
        return punkt_splitter(), []
    except (MissingExtra, ModelNotFound) as error:
        return punkt_sentences, [f"sentences are cut by rules like those of nltk's Punkt, not by itself: {error}"]
