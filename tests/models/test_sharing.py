"""Models that are asked for again while they are in use are the same objects; others are not kept."""

import gc
import weakref

from quoteweave.models.checkpoints import Hardware
from quoteweave.models.loading import make_shared
from quoteweave.retrievers.make_retriever import Resources, make_encoder_for
from quoteweave.retrievers.spec import parse_spec


class Model:
    """Stands for a model."""

    def __init__(self, checkpoint: str, *, batch: int = 1) -> None:
        self.checkpoint, self.batch = checkpoint, batch


def test_what_is_in_use_is_shared_and_goes_with_its_last_user() -> None:
    first = make_shared(Model, "a", batch=2)
    assert make_shared(Model, "a", batch=2) is first
    assert make_shared(Model, "a", batch=3) is not first
    assert make_shared(Model, "b", batch=2) is not first
    watched = weakref.ref(first)
    del first
    gc.collect()
    assert watched() is None


def test_retrievers_of_one_model_share_its_encoder_where_the_hardware_is_the_same() -> None:
    spec, indexed = parse_spec("minilm"), parse_spec("minilm@page@hnsw")
    encoder = make_encoder_for(spec, Resources())
    assert make_encoder_for(indexed, Resources()) is encoder
    assert make_encoder_for(spec, Resources(Hardware(batch_size=3))) is not encoder
