"""colpali-engine's scorer of multi-vector embeddings, without the rest of that library."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Scorer = Callable[..., Any]


def colpali_scorer() -> Scorer:
    """`score_multi_vector(questions, pages, batch_size=128)`. Ends the script where colpali-engine is not installed.

    The package itself imports every model that it has, and for them torchvision, whose wheel does not fit a torch for
    the CPU; so only the module of the scorer is loaded, with what that needs.
    """
    name = "colpali_engine"
    spec = importlib.util.find_spec(name)
    # `make test` installs it in this folder.
    folder = Path(spec.origin).parent if spec and spec.origin else Path(sys.prefix) / "visual" / name
    if not folder.is_dir():
        raise SystemExit("This benchmark needs colpali-engine's scorer: pip install 'quoteweave[visual]'")
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    from colpali_engine.utils.processing_utils import BaseVisualRetrieverProcessor

    scorer: Scorer = BaseVisualRetrieverProcessor.score_multi_vector
    return scorer
