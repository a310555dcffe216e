"""Templates of HTML pages, and what their Content-Security-Policy allows."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def open_template(folder: Path, name: str) -> "Template":
    """Return a template of a folder. Values are escaped, unless they are `Markup`, and none may be missing.

    It is compiled once per process, which takes a tenth of a second or more.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def policy_hash(inline: str) -> str:
    """Return the source by which a Content-Security-Policy allows this inline style or script, and no other."""
    return f"'sha256-{b64encode(sha256(inline.encode()).digest()).decode('ascii')}'"
