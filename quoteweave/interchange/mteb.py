"""mteb: a retriever of ours as a model that `mteb.evaluate` can run, and our scores in the form of mteb's results.

Written for mteb 2.26 (its `SearchProtocol`, `ModelMeta` and `TaskResult`), which the extra `mteb` installs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import finalize

from quoteweave.core.errors import UsageError
from quoteweave.core.files.temporary import TemporaryFolder
from quoteweave.core.files.whole_files import output_file
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.index.base import Shard
from quoteweave.index.maxsim.index import MultiVectorIndex
from quoteweave.models.checkpoints import Hardware, import_required
from quoteweave.retrievers.catalogue import ModelRow
from quoteweave.retrievers.make_retriever import SPARSE_RETRIEVERS, Resources, make_encoder_for
from quoteweave.retrievers.spec import parse_spec

if TYPE_CHECKING:
    from PIL.Image import Image

# Items that are encoded and written at once.
ITEMS_AT_ONCE = 2048
# Our figures that mteb defines in the same way; its map and mrr are cut at a rank, and ours are not.
FIGURES = ("ndcg", "recall", "precision", "hit_rate")
MAIN_FIGURE = "ndcg@10"

Row = Mapping[str, Any]
"""A row of mteb's datasets: `id`, `text` and sometimes `title`, `instruction` or `image`."""


class MtebRetriever:
    """A model of the catalogue, or of a checkpoint, as mteb's `SearchProtocol`; its name is that of `--retriever`.

    All items are ranked exactly, by the inner product of their vector with the question's, or by MaxSim if they have
    many vectors. Prefixes and lengths are those of the model's row; mteb's own prompts are not added. A document is its
    title and text; models that read pictures get its picture. The methods' parameters are those of mteb's protocol, all
    keyword-only; those that describe the task are ignored. Raises UsageError for a retriever that is no model.

    >>> MtebRetriever("bge").name
    'bge'
    """

    def __init__(self, retriever: str, hardware: Hardware | None = None) -> None:
        spec = parse_spec(retriever)
        if spec.name in SPARSE_RETRIEVERS or spec.endpoint or (spec.kind or spec.view or spec.unit != "quote"):
            raise UsageError(
                f"{retriever!r} cannot be run by mteb: name a model on this machine, without kind of index or view"
            )
        self.name = str(spec)
        self._encoder = make_encoder_for(spec, Resources(hardware=hardware or Hardware()))
        self._folder: TemporaryFolder | None = None
        self._ids: list[str] = []
        self._index: MultiVectorIndex | None = None

    @property
    def mteb_model_meta(self) -> Any:
        """The model's description for mteb, a `ModelMeta`. Raises MissingExtra without mteb."""
        row = cast("ModelRow", getattr(self._encoder, "row"))  # noqa: B009  # all encoders on this machine have one
        meta = import_required("mteb.models.model_meta", "mteb")
        return meta.ModelMeta(
            loader=None,
            name=f"quoteweave/{re.sub(r'[^A-Za-z0-9._-]+', '-', self.name)}",
            revision=row.revision,
            release_date=None,
            languages=None,
            n_parameters=None,
            memory_usage_mb=None,
            max_tokens=row.passage_length,
            embed_dim=row.dimension,
            license=row.licence if re.fullmatch(r"[a-z0-9.-]+", row.licence) and row.licence != "unknown" else None,
            open_weights=True,
            public_training_code=None,
            public_training_data=None,
            framework=["PyTorch"],
            reference=row.source if row.source.startswith("https://") else None,
            similarity_fn_name="MaxSim" if row.multi_vector else "cosine" if row.normalize else "dot",
            use_instructions=bool(row.query_prefix or row.passage_prefix),
            training_datasets=None,
            adapted_from=row.checkpoint,
            modalities=["image", "text"] if row.reads == "image" else ["text"],
            model_type=["late-interaction" if row.multi_vector else "dense"],
        )

    def index(
        self,
        corpus: Iterable[Row],
        *,
        task_metadata: object,  # noqa: ARG002
        hf_split: str,  # noqa: ARG002
        hf_subset: str,  # noqa: ARG002
        encode_kwargs: object,  # noqa: ARG002
        num_proc: int | None,  # noqa: ARG002
    ) -> None:
        """Encode a corpus, which replaces the one before. Raises UsageError for a row that it cannot read."""
        self._ids, self._index = [], None
        if self._folder is not None:
            self._folder.remove()
        self._folder = TemporaryFolder()
        finalize(self, self._folder.remove)
        remaining = iter(corpus)
        for number in count():
            rows = list(islice(remaining, ITEMS_AT_ONCE))
            if not rows:
                break
            self._add(self._folder.path / f"{number}.f32", rows)

    def search(  # noqa: PLR0913
        self,
        queries: Iterable[Row],
        *,
        task_metadata: object,  # noqa: ARG002
        hf_split: str,  # noqa: ARG002
        hf_subset: str,  # noqa: ARG002
        top_k: int,
        encode_kwargs: object,  # noqa: ARG002
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        num_proc: int | None,  # noqa: ARG002
    ) -> dict[str, dict[str, float]]:
        """The best `top_k` documents of each question with their scores; if `top_ranked` is given, only from that."""
        rows = list(queries)
        if self._index is None or not rows:
            return {str(row["id"]): {} for row in rows}
        vectors = self._encoder.encode_queries([_text(row, "instruction") for row in rows])
        deep = top_k if top_ranked is None else len(self._ids)
        results: dict[str, dict[str, float]] = {}
        for row, best in zip(rows, self._index.search(vectors, deep), strict=True):
            scored = {self._ids[at]: score for at, score in zip(best.rows.tolist(), best.scores.tolist(), strict=True)}
            if top_ranked is not None:
                wanted = set(top_ranked.get(str(row["id"]), ()))
                scored = {name: score for name, score in scored.items() if name in wanted}
            results[str(row["id"])] = dict([*scored.items()][:top_k])
        return results

    def _add(self, path: Path, rows: Sequence[Row]) -> None:
        import numpy as np

        matrices = self._encoder.encode_views(cast("Sequence[str]", list(self._views(rows))))
        dimension = matrices[0].shape[1]
        path.write_bytes(np.concatenate(matrices).astype(np.float32).tobytes())
        first = len(self._ids)
        self._ids += [str(row["id"]) for row in rows]
        self._index = self._index or MultiVectorIndex("exact", dimension)
        self._index.add(
            Shard(
                document=path.stem,
                path=path,
                offset=0,
                dtype=np.dtype(np.float32),
                dimension=dimension,
                rows=np.arange(first, len(self._ids), dtype=np.int64),
                quotes=(),
                lengths=np.array([len(matrix) for matrix in matrices], dtype=np.int64),
            )
        )

    def _views(self, rows: Sequence[Row]) -> "Iterator[str | Image]":
        for row in rows:
            if self._encoder.reads == "text":
                yield _text(row, "title")
            elif (picture := row.get("image")) is not None:
                yield picture
            else:
                raise UsageError(
                    f"{self.name} reads pictures, and document {row['id']!r} has none; run it on a visual task"
                )


def _text(row: Row, field: str) -> str:
    """The row's text joined with its title or instruction as mteb joins them: title first, instruction last."""
    text = row.get("text")
    if not isinstance(text, str):
        raise UsageError(f"row {row['id']!r} has no text that is a string; only tasks of single texts can be run")
    parts = [row.get(field) or "", text] if field == "title" else [text, row.get(field) or ""]
    return " ".join(part for part in parts if part).strip()


def mteb_result(
    scores: Scores, *, task: str, revision: str, split: str = "test", languages: Sequence[str] = ("eng-Latn",)
) -> dict[str, object]:
    """Figures of rankings in the form of mteb's `TaskResult`: those that mteb defines in the same way.

    `task` is mteb's name of the dataset, and `revision` the revision that was scored. No version of mteb is named, as
    mteb computed nothing. Raises UsageError if there is no nDCG at 10, mteb's main figure of retrieval.
    """
    values = {name: estimate.value for name, estimate in scores.figures.items() if estimate.value is not None}
    if MAIN_FIGURE not in values:
        raise UsageError(f"these scores have no {MAIN_FIGURE}, which mteb's results are headed by; score rankings")
    alike = {name.replace("@", "_at_"): value for name, value in values.items() if name.partition("@")[0] in FIGURES}
    figures = {**alike, "main_score": values[MAIN_FIGURE], "hf_subset": "default", "languages": [*languages]}
    return {
        "dataset_revision": revision,
        "task_name": task,
        "mteb_version": None,
        "scores": {split: [figures]},
        "evaluation_time": None,
    }


def write_mteb_result(path: Path, result: Mapping[str, object]) -> None:
    """Write an `mteb_result` as JSON, which `mteb.results.TaskResult.from_disk` reads. Raises StorageError."""
    with output_file(path) as file:
        file.write(json.dumps(result, indent=2).encode())
