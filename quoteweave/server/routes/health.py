"""`/healthz`, `/readyz` and `/metrics`, for load balancers, containers and Prometheus."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.server.depends import Reader, ServedState
from quoteweave.server.monitoring import METRICS_TYPE
from quoteweave.server.problems import ProblemError
from quoteweave.server.routes.session import Control

router = APIRouter(tags=["operations"])


class Health(Record):
    """Whether the server runs, and answers."""

    status: Literal["ok", "degraded"]
    unreadable: int = Field(default=0, description="collections that cannot be read; GET /v1/collections says why")


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
def metrics(served: ServedState, grant: Reader) -> Response:
    """Return figures of requests, searches, answers, models and collections in Prometheus's text format.

    They name every collection, so a key for some of them does not get them.
    """
    if grant.key is not None and grant.key.collections is not None:
        detail = "the figures name every collection, and the key is for some; use one that is for all"
        raise ProblemError(403, "missing-scope", detail)
    return Response(served.metrics.exposition(), media_type=METRICS_TYPE)


@router.get("/healthz", summary="Whether the server runs")
async def healthz() -> Health:
    """Return ok as long as the process answers."""
    return Health(status="ok")


@router.get("/readyz", summary="Whether the server can answer", responses={503: {"model": Health}})
def readyz(served: ServedState, control: Control, response: Response) -> Health:
    """Return ok where collections can be read; 503 where none of several can, and where nobody is let in.

    That is so where the file of keys is damaged.
    """
    unreadable = served.unreadable()
    refusing = not control.keys.readable()
    if refusing or (unreadable and len(unreadable) == len(served.folders())):
        response.status_code = 503
    return Health(status="degraded" if unreadable or refusing else "ok", unreadable=len(unreadable))
