"""`/v1/session`: people sign in on the page with a key, and sign out."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request, Response
from pydantic import AwareDatetime, Field

from quoteweave.core.records import Record
from quoteweave.server.access.control import AccessControl, Grant, cookie_name, grant_of, refused_key
from quoteweave.server.access.keys import Key, Scope
from quoteweave.server.access.sessions import LIFETIME
from quoteweave.server.json_bodies import JsonRoute

router = APIRouter(tags=["session"], route_class=JsonRoute)


def get_control(request: Request) -> AccessControl:
    """Return what decides about requests."""
    control: AccessControl = request.app.state.access
    return control


Control = Annotated[AccessControl, Depends(get_control)]


class SignIn(Record):
    """A key to sign in with."""

    key: str = Field(max_length=1000, description="the whole key", examples=["qw_0f3a9c51_…"])


class Session(Record):
    """What whoever is asking may do."""

    key_needed: bool = Field(description="whether anything can be asked only with a key")
    name: str | None = Field(default=None, description="the key's name; None without one")
    scopes: tuple[Scope, ...] = Field(description="what may be done; empty until a key is given, where one is needed")
    collections: tuple[str, ...] | None = Field(default=None, description="of these collections; None for all")
    expires: AwareDatetime | None = Field(default=None, description="when the key expires; None for never")


@router.get("/v1/session", summary="What may be done")
def read_session(request: Request, control: Control) -> Session:
    """Return what the request may do, and whether it needs a key for more."""
    return _session(grant_of(request.scope), control)


@router.post("/v1/session", summary="Sign in")
def sign_in(request: Request, response: Response, control: Control, body: Annotated[SignIn, Body()]) -> Session:
    """Exchange a key for a session: a cookie that scripts cannot read, for seven days at most."""
    key = control.keys.verify(body.key.strip())
    if key is None:
        raise refused_key()
    response.set_cookie(
        cookie_name(request),
        control.sessions.begin(key.id),
        max_age=int(LIFETIME.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=_is_https(request, control),
    )
    response.headers["Cache-Control"] = "no-store"
    return _session(Grant(key), control)


@router.delete("/v1/session", status_code=204, summary="Sign out")
def sign_out(request: Request, control: Control) -> Response:
    """End the session; its cookie is of no more use, wherever it was copied to."""
    response, name = Response(status_code=204), cookie_name(request)
    token = request.cookies.get(name)
    if token is not None:
        control.sessions.end(token)
    response.delete_cookie(name, httponly=True, samesite="strict", secure=_is_https(request, control))
    return response


def _is_https(request: Request, control: AccessControl) -> bool:
    public = control.settings.public_url or ""
    return request.url.scheme == "https" or public.startswith("https://")


def _session(grant: Grant, control: AccessControl) -> Session:
    key: Key | None = grant.key
    if key is None:
        return Session(key_needed=control.needs_key(), scopes=("read", "write", "admin") if grant.is_open else ())
    return Session(
        key_needed=control.needs_key(),
        name=key.name,
        scopes=key.scopes,
        collections=key.collections,
        expires=key.expires,
    )
