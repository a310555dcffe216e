"""Local entailment models, which decide whether a text entails a claim."""

from quoteweave.core.errors import ModelFailed
from quoteweave.generation.entailment.local import LocalEntailment, NliEntailment, T5Entailment
from quoteweave.models.checkpoints import Hardware, is_local, locate_checkpoint, read_config

T5_TYPES = ("t5", "mt5", "umt5")
GENERATIVE_ENDINGS = ("ForConditionalGeneration", "WithLMHeadModel")


def make_entailment(spec: str, hardware: Hardware | None = None, *, max_length: int | None = None) -> LocalEntailment:
    """Build the entailment model of a checkpoint: `/path/to/folder`, `owner/name` or `owner/name@revision`.

    The checkpoint's config.json determines its kind, so a checkpoint of the hub is downloaded at this point; weights
    are loaded on first use. Raises ModelNotFound where there is none, ModelFailed for a model of another kind.
    """
    checkpoint, _, revision = (spec, "", "") if is_local(spec) else spec.partition("@")
    config = read_config(locate_checkpoint(checkpoint, revision or "main"))
    architecture = (config.get("architectures") or ["none"])[0]
    made: type[LocalEntailment]
    if architecture.endswith("ForSequenceClassification"):
        made = NliEntailment
    elif config.get("model_type") in T5_TYPES and architecture.endswith(GENERATIVE_ENDINGS):
        made = T5Entailment
    else:
        raise ModelFailed(
            f"{spec} is no entailment model: its architecture is {architecture}, "
            "neither a T5 that generates nor one ForSequenceClassification"
        )
    return made(checkpoint, hardware, revision=revision or "main", max_length=max_length)
