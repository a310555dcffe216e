"""`GET /v1/models`: the chat models that a request may name, and the collections as the models of OpenAI's clients."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as PathPart

from quoteweave.core.answers import EXTRACTIVE
from quoteweave.interchange.responses import ModelList, ModelSummary, OpenAIModel
from quoteweave.server.depends import Reader, ServedState, VisibleNames, check_opens
from quoteweave.server.dialects.openai_errors import RESPONSES
from quoteweave.server.served import no_such_collection

router = APIRouter(tags=["models"])


@router.get("/v1/models", summary="The models")
def list_models(served: ServedState, names: VisibleNames) -> ModelList:
    """List the chat models that a request may name, and `extractive`, which asks none; `data` holds the collections."""
    default_model, folders = served.defaults.model, served.folders()
    models = [
        ModelSummary(name=name, default=name == default_model, destination=settings.destination)
        for name, settings in served.models().items()
    ]
    models.append(ModelSummary(name=EXTRACTIVE, default=default_model is None, destination=None))
    chat = ("chat",) if default_model is not None else ()
    return ModelList(
        data=tuple(_model(name, folders[name]) for name in names if name in folders),
        models=tuple(models),
        expanders=("rules", "rm3", *chat),
        rerankers=(*served.settings.rerankers, *chat),
        calibrations=tuple(served.settings.calibrations),
    )


@router.get("/v1/models/{model}", summary="A collection as OpenAI's model", responses=RESPONSES)
def read_model(
    model: Annotated[str, PathPart(description="name of a collection", examples=["port"])],
    served: ServedState,
    grant: Reader,
) -> OpenAIModel:
    """Return a collection as OpenAI's clients know models."""
    check_opens(grant, model)
    folder = served.folders().get(model)
    if folder is None:
        raise no_such_collection(model)
    return _model(model, folder)


def _model(name: str, folder: Path) -> OpenAIModel:
    try:
        created = int((folder / "collection.json").stat().st_mtime)
    except OSError:
        created = 0
    return OpenAIModel(id=name, created=created)
