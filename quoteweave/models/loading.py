"""Loading of models: one at a time, shared while in use, quietly, and with complete weights only.

A server makes a search for each combination of settings that its requests name. If each had models of its own, the same
weights would be loaded as often. So a model in use is shared: asked for again with the same settings, the same object
is returned.
"""

import logging
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import RLock, get_ident
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from quoteweave.core.errors import ModelFailed, QuoteweaveError
from quoteweave.models.batches import catch_out_of_memory
from quoteweave.models.checkpoints import import_required

P = ParamSpec("P")
M = TypeVar("M")

_shared: WeakValueDictionary[tuple[object, str], object] = WeakValueDictionary()
_lock = RLock()


def make_shared(make: Callable[P, M], *args: P.args, **kwargs: P.kwargs) -> M:
    """Return the model that `make` returns for these arguments, or that it returned before if it is still in use.

    Arguments are compared by their `repr`. Models see to it themselves that threads take turns (`ModelLock`).
    """
    key = (make, repr((args, sorted(kwargs.items()))))
    with _lock:
        model = _shared.get(key)
        if model is None:
            model = _shared[key] = make(*args, **kwargs)
        return model  # type: ignore[return-value]  # the key contains `make`, so the type is right


SAVED_WHOLE_ADVICE = "name a checkpoint that was saved whole"
MAX_NAMED = 3  # weights that a message names at most

# The libraries' imports on first use are not thread-safe.
_LOADING = RLock()


class ModelLock:
    """A lock for one model, whose tokenizer keeps the padding and truncation of a call as its own state."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._was_used = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the lock; the first use of a model also excludes all other models."""
        with self._lock, nullcontext() if self._was_used else _LOADING:
            yield
            self._was_used = True


@contextmanager
def reporting_load_errors(
    name: str, folder: Path, *, unused: Collection[str] = (), instead: str = SAVED_WHOLE_ADVICE
) -> Iterator[None]:
    """Convert whatever a library raises while loading a model in the block into ModelFailed, naming the folder.

    It is raised too where the checkpoint lacks weights: transformers would initialise them at random, with no more than
    a line in its log. Weights whose names begin with one of `unused` do not affect the results, and may be missing;
    `instead` is the message's advice for all others.
    """
    reports: list[str] = []
    try:
        with (
            _LOADING,
            catch_out_of_memory(name),
            _quiet() as reports,
            _require_all_weights(folder, tuple(unused), instead),
        ):
            yield
    except QuoteweaveError:
        raise
    except Exception as error:
        # Damaged weights raise errors of a dozen kinds, those of pickle, JSON and safetensors among them.
        why = _misfits(reports) or str(error).strip().partition("\n")[0] or type(error).__name__
        lacking = "it lacks " if isinstance(error, KeyError) and error.args else ""
        raise ModelFailed(f"{name} cannot be loaded from {folder}: {lacking}{why}") from error


def load_adapter(model: Any, folder: Path, *, instead: str, names: Any = None) -> None:
    """Load an adapter into a model; `names` maps the names that layers had when it was trained to those of the model's.

    Raises ModelFailed, with `instead` as its advice, for an adapter whose weights are not those of the model's layers:
    it would change nothing, and the model would compute as if it were untrained.
    """
    loaded = model.load_adapter(str(folder), **({} if names is None else {"weight_mapping": names}))
    misfits = {*loaded.missing_keys, *loaded.unexpected_keys}
    if misfits:
        raise ModelFailed(
            f"{folder} holds no adapter of {type(model).__name__}: {len(misfits)} of its weights are missing or "
            f"unexpected, such as {min(misfits)}; {instead}"
        )


def check_tokenizer(folder: Path) -> None:
    """Raise MissingExtra where sentencepiece is needed and missing; transformers would name another library."""
    if not (folder / "tokenizer.json").is_file() and any(folder.glob("sp*.model")):
        import_required("sentencepiece")
        import_required("google.protobuf")


def max_positions(model: Any) -> int:
    """The maximum number of tokens; position numbers of RoBERTa and its relatives start after the padding index."""
    import torch

    tables = (
        module
        for name, module in model.named_modules()
        if name.endswith(".position_embeddings") and isinstance(module, torch.nn.Embedding)
    )
    rooms = [table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1) for table in tables]
    positions: int | None = getattr(model.config, "max_position_embeddings", None)
    return min([*rooms, positions or sys.maxsize])


@contextmanager
def _require_all_weights(folder: Path, unused: tuple[str, ...], instead: str) -> Iterator[None]:
    """Refuse a transformers model that this thread loads in the block from a checkpoint that lacks weights.

    sentence-transformers loads such models too and does not pass on what was missing, so the method is replaced here.
    """
    base, owner = import_required("transformers").PreTrainedModel, get_ident()
    original = base.__dict__["from_pretrained"]

    def _from_pretrained(kind: Any, /, *arguments: Any, output_loading_info: bool = False, **named: Any) -> Any:
        model, loading_info = original.__func__(kind, *arguments, output_loading_info=True, **named)
        if get_ident() == owner:
            missing = sorted(key for key in loading_info["missing_keys"] if not key.startswith(unused))
            if missing:
                names = ", ".join(missing[:MAX_NAMED]) + ("…" if len(missing) > MAX_NAMED else "")
                raise ModelFailed(f"{folder} lacks weights of {kind.__name__}: {names}; {instead}")
        return (model, loading_info) if output_loading_info else model

    base.from_pretrained = classmethod(_from_pretrained)
    try:
        yield
    finally:
        base.from_pretrained = original


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """Suppress libraries' future warnings, progress bars without a terminal, and load reports.

    Yields the reports.
    """
    transformers_logging = import_required("transformers.utils.logging")
    hide = transformers_logging.is_progress_bar_enabled() and not sys.stderr.isatty()
    with ExitStack() as after:
        if hide:
            transformers_logging.disable_progress_bar()
            after.callback(transformers_logging.enable_progress_bar)
        after.enter_context(warnings.catch_warnings(action="ignore", category=FutureWarning))
        yield after.enter_context(capture_log("transformers.modeling_utils", "LOAD REPORT"))


@contextmanager
def capture_log(source: str, words: str) -> Iterator[list[str]]:
    """Collect, instead of logging, this thread's messages to the logger `source` that contain these words."""
    owner, messages = get_ident(), list[str]()

    def passes(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if record.thread != owner or words not in text:
            return True
        messages.append(text)
        return False

    logger = logging.getLogger(source)
    logger.addFilter(passes)
    try:
        yield messages
    finally:
        logger.removeFilter(passes)


def _misfits(reports: list[str]) -> str:
    """The weights with a mismatched shape named in the reports, to which transformers' own error only points."""
    rows = (line.split("|") for report in reports for line in report.splitlines())
    names = [row[0].strip() for row in rows if len(row) > 2 and "MISMATCH" in row[1]]
    return f"{', '.join(names)} of another shape than its config.json says" if names else ""
