"""What an encoder sees and gives: views that are loaded, and vectors that are checked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quoteweave.core.counting import counted
from quoteweave.core.errors import DocumentError, ModelFailed
from quoteweave.core.records import Record
from quoteweave.index.views import ItemView

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image


class DimensionChanged(ModelFailed):
    """A model gives vectors of another dimension than those that are there."""


class Unreadable(Record):
    """A quote whose picture cannot be had, or whose text its endpoint refuses."""

    quote: str
    reason: str


def loaded(view: ItemView) -> "str | Image | Unreadable":
    """The string or the picture, or why it cannot be had."""
    from PIL import Image

    try:
        content = view.load()
        if not isinstance(content, str):
            content.load()  # else a damaged picture would only show in the encoder
        return content
    # What Pillow raises on a damaged picture depends on its format.
    except (DocumentError, OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        said = str(error) if isinstance(error, DocumentError) else f"{type(error).__name__}: {error}"
        reason = said if view.quote.id in said else f"the picture of quote {view.quote.id}: {said}"
        return Unreadable(quote=view.quote.id, reason=reason)


def check_vectors(name: str, matrices: "Sequence[np.ndarray[Any, Any]]", what: Sequence[str], *, many: bool) -> None:
    """Raises ModelFailed unless the model gave a matrix of finite numbers for each thing that it was to encode."""
    import numpy as np

    if len(matrices) != len(what):
        raise ModelFailed(
            f"{name} gave {counted(len(matrices), 'result')} for {counted(len(what), 'input')}; it "
            f"cannot be used as it is"
        )
    for matrix, item in zip(matrices, what, strict=True):
        if matrix.ndim != 2 or not matrix.shape[1] or (len(matrix) != 1 and not many):
            due = "vectors" if many else "one vector"
            raise ModelFailed(f"{name} gave an array of shape {matrix.shape} for {item} where {due} should be")
        if not np.isfinite(matrix).all():
            advice = "the weights may be damaged, or --dtype too narrow for them"
            raise ModelFailed(f"{name} gave numbers that are not finite (NaN or infinite) for {item}; {advice}")
