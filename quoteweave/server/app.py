"""Makes the application: its routes, what wraps every request, and what it holds in memory."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache

from fastapi import APIRouter, Depends, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.routing import BaseRoute
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from quoteweave.interchange.problems import Problem
from quoteweave.server.access.control import protect
from quoteweave.server.depends import refuse_unknown_parameters
from quoteweave.server.dialects import openai_chat, openai_responses
from quoteweave.server.dialects.openai_errors import error_format_of
from quoteweave.server.examples import add_response_examples
from quoteweave.server.jobs.service import Jobs
from quoteweave.server.mcp.http import McpEndpoint
from quoteweave.server.problems import handle_problems
from quoteweave.server.request_context import HeadAsGet, RequestContext
from quoteweave.server.routes import (
    answers,
    collections,
    conversations,
    documents,
    health,
    models,
    page,
    quotes,
    session,
)
from quoteweave.server.routes import jobs as job_routes
from quoteweave.server.served import Served
from quoteweave.server.settings import ServerSettings
from quoteweave.version import __version__

STRICT_ROUTERS = (
    answers.router,
    quotes.router,
    collections.router,
    documents.router,
    job_routes.router,
    conversations.router,
    session.router,
)
# Clients of other APIs, monitors, and links to the page add parameters of their own: "?api-version=", "?utm_source=".
LENIENT_ROUTERS = (models.router, openai_chat.router, openai_responses.router, health.router, page.router)
ROUTERS = (*STRICT_ROUTERS, *LENIENT_ROUTERS)
_PROBLEMS = {
    "4XX": {
        "model": Problem,
        "description": "What is wrong with the request",
        "content": {"application/problem+json": {}},
    },
    "5XX": {"model": Problem, "description": "What failed", "content": {"application/problem+json": {}}},
}


def make_app(settings: ServerSettings) -> FastAPI:
    """Make the application of these settings, as an ASGI server runs it.

    >>> app = make_app(ServerSettings(collections={"port": Path("my-collection")}))
    >>> app.title
    'quoteweave'
    """
    served, jobs = Served(settings), Jobs(settings)
    mcp = McpEndpoint(served)
    app = FastAPI(
        title="quoteweave",
        version=__version__,
        summary="Cited answers from collections of documents, every citation with its place on the page.",
        lifespan=_lifespan(served, jobs, mcp),
        docs_url=None,
        redoc_url=None,
    )
    app.state.served, app.state.jobs, app.state.error_format = served, jobs, error_format_of
    app.router.routes.extend((*_routes(), mcp.route))
    add_response_examples(app)
    handle_problems(app)
    protect(app, settings)
    app.add_middleware(HeadAsGet)
    app.add_middleware(RequestContext, settings=settings, metrics=served.metrics)
    if settings.trusted_proxies:
        # Added last, so that it wraps all else, and limits, log and links use the client's own address and scheme.
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.trusted_proxies))
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Return what serves the paths of `ROUTERS`, for all applications of this process.

    FastAPI works each route out as the first request comes, which takes longer than most answers.
    """
    router = APIRouter(responses=_PROBLEMS)  # type: ignore[arg-type]
    for strict in STRICT_ROUTERS:
        router.include_router(strict, dependencies=[Depends(refuse_unknown_parameters)])
    for lenient in LENIENT_ROUTERS:
        router.include_router(lenient)
    return router.routes


def _lifespan(served: Served, jobs: Jobs, mcp: McpEndpoint) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Return the application's lifespan: what is started before its first request and stopped at its end."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(jobs.start)
        try:
            async with mcp.run():
                yield
        finally:
            await run_in_threadpool(jobs.stop)
            served.close()

    return lifespan
