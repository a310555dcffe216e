"""BERT with bottleneck adapters, one for passages and one for questions, as SPECTER2 is published.

The library that such adapters are made with, `adapters`, wants an older transformers than this package does; what it
computes for the one architecture that is read here takes a few lines.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import ModelFailed
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.models.checkpoints import import_required, locate_checkpoint, read_config
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.encoders.text import TwoSidedEncoder

if TYPE_CHECKING:
    import torch

WEIGHTS = "pytorch_adapter.bin"
# The configuration that an adapter must have: others are computed in another way.
ARCHITECTURE: Mapping[str, object] = {
    "adapter_residual_before_ln": False,
    "is_parallel": False,
    "ln_after": False,
    "ln_before": False,
    "mh_adapter": False,
    "non_linearity": "relu",
    "original_ln_after": True,
    "original_ln_before": True,
    "output_adapter": True,
    "residual_before_ln": True,
}
_WEIGHT = lazy_regex(r"encoder\.layer\.(\d+)\.output\.adapters\.[^.]+\.adapter_(down\.0|up)\.(weight|bias)$")


class AdaptedBertEncoder(TwoSidedEncoder):
    """The last layer's vector at [CLS] of BERT with an adapter (Pfeiffer et al., arXiv 2005.00247) in each layer.

    Of SPECTER2 (SciRepEval, arXiv 2211.13308) passages are encoded with the adapter `proximity` and questions with
    `adhoc_query`. Each is loaded when it is first needed. Another checkpoint is given as a folder that contains `base`,
    `passages` and `questions`.
    """

    base, questions, passages = "base", "questions", "passages"

    def _load(self, side: str) -> tuple[Any, Any]:
        """Load the tokenizer, and the model with one of the two adapters."""
        transformers = import_required("transformers")
        base = locate_checkpoint(*self._checkpoint(self.base), download_gb=self.row.download_gb)
        folder = locate_checkpoint(*self._checkpoint(side))
        with reporting_load_errors(self.name, base):
            tokenizer = transformers.AutoTokenizer.from_pretrained(base)
            model = transformers.BertModel.from_pretrained(base, add_pooling_layer=False)
        with reporting_load_errors(self.name, folder):
            _insert_adapter(model, folder)
        return tokenizer, model.to(self.hardware.chosen_device(), self._dtype).eval()

    def _at_cls(self, output: Any) -> "torch.Tensor":
        vectors: torch.Tensor = output.last_hidden_state[:, 0]
        return vectors


def _insert_adapter(model: Any, folder: Path) -> None:
    """Insert an adapter into a BERT model, where it was trained: after the feed-forward part of each layer.

    From the layer's sum s = feed-forward + residual it computes norm(s + up(relu(down(norm(s))))).
    """
    import torch

    config = read_config(folder, "adapter_config.json").get("config") or {}
    deviating_keys = [key for key, value in ARCHITECTURE.items() if config.get(key, value) != value]
    if deviating_keys:
        raise ModelFailed(
            f"{folder} is an adapter of another architecture: {', '.join(deviating_keys)} of its configuration"
        )
    weights: dict[int, dict[str, Any]] = {}
    for name, weight in torch.load(folder / WEIGHTS, map_location="cpu", weights_only=True).items():
        match = _WEIGHT.search(name)
        if match is None:
            raise ModelFailed(f"{folder / WEIGHTS} has the weight {name}, which no adapter of this architecture has")
        weights.setdefault(int(match[1]), {})[f"{match[2].removesuffix('.0')}.{match[3]}"] = weight
    for number, layer in enumerate(model.encoder.layer):
        layer_weights = weights[number]
        narrow, wide = layer_weights["down.weight"].shape
        down, up = torch.nn.Linear(wide, narrow), torch.nn.Linear(narrow, wide)
        down.load_state_dict({key: layer_weights[f"down.{key}"] for key in ("weight", "bias")})
        up.load_state_dict({key: layer_weights[f"up.{key}"] for key in ("weight", "bias")})
        # As parts of the layer they move with the model.
        layer.output.adapter_down, layer.output.adapter_up = down, up
        layer.output.LayerNorm.register_forward_pre_hook(partial(_before_norm, down, up))


def _before_norm(down: Any, up: Any, norm: Any, inputs: tuple[Any]) -> tuple[Any]:
    """Return the input of a layer's norm, computed by the adapter from the input that the norm has without one."""
    import torch

    (total,) = inputs
    normed = torch.nn.functional.layer_norm(total, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
    return (total + up(torch.relu(down(normed))),)
