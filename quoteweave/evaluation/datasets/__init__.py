"""Load datasets: files become examples, each a query with its gold references.

There is a module for each dataset, which also reads answers in the format of its authors' code.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example
from quoteweave.evaluation.datasets.alce import load_alce
from quoteweave.evaluation.datasets.beir import load_beir, load_qrels, qrels_of
from quoteweave.evaluation.datasets.citeme import load_citeme
from quoteweave.evaluation.datasets.citevqa import load_citevqa
from quoteweave.evaluation.datasets.citevqa import questions_of as citevqa_file
from quoteweave.evaluation.datasets.mcitebench import Probe, load_mcitebench, make_probes
from quoteweave.evaluation.datasets.mmdocir import annotations_file, load_mmdocir
from quoteweave.evaluation.datasets.mmdocrag import load_mmdocrag
from quoteweave.evaluation.datasets.mmlongbench import load_mmlongbench
from quoteweave.evaluation.datasets.mmlongbench import samples_of as mmlongbench_file
from quoteweave.evaluation.datasets.questions import load_questions


def _probes(probe: Probe, *, unrelated: bool = False) -> Callable[[Path], list[Example]]:
    return lambda path: make_probes(load_mcitebench(path), probe, unrelated=unrelated)


DATASETS: Mapping[str, Callable[[Path], list[Example]]] = {
    "alce": load_alce,
    "beir": load_beir,
    "citeme": load_citeme,
    "citevqa": load_citevqa,
    "mcitebench": load_mcitebench,
    "mcitebench-source": _probes("source"),
    "mcitebench-source-unrelated": _probes("source", unrelated=True),
    "mcitebench-attribution": _probes("attribution"),
    "mcitebench-attribution-unrelated": _probes("attribution", unrelated=True),
    "mcitebench-understanding": _probes("understanding"),
    "mcitebench-understanding-unrelated": _probes("understanding", unrelated=True),
    "mmdocir": load_mmdocir,
    "mmdocrag-15": partial(load_mmdocrag, quotes=15),
    "mmdocrag-20": partial(load_mmdocrag, quotes=20),
    "mmlongbench": load_mmlongbench,
    "questions": load_questions,
    "trec": load_qrels,
}
"""Name to loader; `docs/datasets.md` describes each dataset and where to get it."""


def dataset_file(name: str, path: Path) -> Path:
    """The file of a dataset's questions; `path` may also be the folder that contains it. Raises DatasetError."""
    finders = {
        "beir": qrels_of,
        "citevqa": citevqa_file,
        "mmdocir": annotations_file,
        "mmlongbench": mmlongbench_file,
    }
    return finders[name](path) if name in finders else path


def load_dataset(name: str, path: Path | None) -> list[Example]:
    """Load the examples of a dataset. Raises UsageError for an unknown name, DatasetError for an unreadable file.

    >>> examples = load_dataset("mmdocrag-20", Path("gold.jsonl"))
    >>> examples[0].id, examples[0].reference.relevant
    ('0', {'text1': 1})
    """
    if name not in DATASETS:
        raise UsageError(f"there is no dataset {name!r}; there are: {', '.join(DATASETS)}")
    if path is None:
        raise UsageError(f"the files of {name} do not come with quoteweave; name them with --references")
    examples = DATASETS[name](path)
    if not examples:
        raise DatasetError(f"{path} holds no question")
    return examples
