"""The worked examples of responses in the server's OpenAPI description: asks a server of the samples for them.

Writes them anew, where responses have changed: python tests/made_responses.py
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from live_server import LiveServer

from quoteweave.pipeline.composition.add_documents import add_documents
from quoteweave.server.examples import FILE, ResponseExample
from quoteweave.server.settings import ServerSettings

ADDRESS = "http://127.0.0.1:8321"
QUESTION = {"question": "How many vessel calls did the port receive?"}
ONE_PAGE = {"filters": {"documents": ["harbour-report.pdf"], "first_page": 2, "last_page": 2, "layouts": ["paragraph"]}}
ASKED = {**QUESTION, **ONE_PAGE}
DIALECT = {"model": "port", "quoteweave": ONE_PAGE}
COLLECTION = "/v1/collections/{collection}"
SHORTENED = {"words", "quotes", "previous", "next"}
"""Fields whose lists are cut to their first two, as they are long and alike."""


def server_of(samples: Path, collection: Path, folder: Path) -> LiveServer:
    """A server of a copy of the samples' collection, named `port`, below a folder of its own."""
    shutil.copytree(collection, folder / "collections" / "port")
    shutil.copy(samples / "pdf" / "visitor-guide.pdf", folder)
    return LiveServer(
        ServerSettings(collections_folder=folder / "collections", state=folder / "state", job_processes=1)
    )


class Session:
    """Requests to a server, and what it answered."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.found: list[ResponseExample] = []

    def ask(
        self,
        method: str,
        path: str,
        sent: object = None,
        *,
        files: Any = None,
        expected: int | None = None,
        **named: str,
    ) -> Any:
        """Send a request to a path of the description, and keep the response as its example."""
        parts = {"collection": "port", "document": "harbour-report.pdf", "page": "2", "model": "port", **named}
        response = self.server.client.request(method, path.format(**parts), json=sent, files=files)
        assert response.status_code == expected or (expected is None and response.is_success), (path, response.text)
        kind = response.headers["content-type"].partition(";")[0]
        text = response.text.replace(self.server.url, ADDRESS)
        body = text if kind == "text/event-stream" else shortened(json.loads(text))
        self.found.append(
            ResponseExample(method=method.lower(), path=path, status=response.status_code, media_type=kind, body=body)
        )
        return body

    def examples(self) -> tuple[ResponseExample, ...]:
        """Send all requests, and return what was answered."""
        for part in (self._read, self._answer, self._converse, self._change):
            part()
        return tuple(self.found)

    def _read(self) -> None:
        for path in ("/v1/collections", COLLECTION, f"{COLLECTION}/questions", f"{COLLECTION}/documents"):
            self.ask("GET", path)
        self.ask("GET", f"{COLLECTION}/documents/{{document}}")
        for suffix in ("", "/words"):
            self.ask("GET", f"{COLLECTION}/pages/{{document}}/{{page}}{suffix}")
        for path in ("/v1/models", "/v1/models/{model}", "/v1/session", "/healthz", "/readyz"):
            self.ask("GET", path)

    def _answer(self) -> None:
        response = self.ask("POST", f"{COLLECTION}/search", {**ASKED, "k": 1})
        self.ask("GET", f"{COLLECTION}/quotes/{{quote_id}}", quote_id=response["hits"][0]["quote_id"])
        for stream in (False, True):
            more = {"stream": True} if stream else {}
            self.ask("POST", f"{COLLECTION}/answers", {**ASKED, **more})
            messages = [{"role": "user", "content": QUESTION["question"]}]
            self.ask("POST", "/v1/chat/completions", {**DIALECT, "messages": messages, **more})
            self.ask("POST", "/v1/responses", {**DIALECT, "input": QUESTION["question"], "store": False, **more})

        self.ask("POST", f"{COLLECTION}/answers", QUESTION, expected=404, collection="manuals")

    def _converse(self) -> None:
        begun = self.ask("POST", "/v1/conversations", {"collection": "port"})["id"]
        self.server.client.post("/v1/collections/port/answers", json={**ASKED, "conversation": begun})
        self.ask("GET", "/v1/conversations")
        self.ask("GET", "/v1/conversations/{conversation}", conversation=begun)
        renamed = {"title": "Vessel calls"}
        self.ask("PATCH", "/v1/conversations/{conversation}", renamed, conversation=begun)

    def _change(self) -> None:
        self.ask("POST", "/v1/collections", {"name": "manuals"})
        guide = self.server.app.state.served.settings.state.parent / "visitor-guide.pdf"
        for _ in range(2):  # the second time it is there already
            files = {"files": ("visitor-guide.pdf", guide.read_bytes())}
            uploaded = self.ask("POST", f"{COLLECTION}/documents", files=files, collection="manuals")
            if uploaded["job"] is not None:
                job = uploaded["job"]["id"]
                self.ask("GET", "/v1/jobs/{id}/events", id=job)
        self.ask("GET", "/v1/jobs/{id}", id=job)
        self.ask("GET", "/v1/jobs")
        self.ask("POST", f"{COLLECTION}/indexes", {"retriever": "bm25"}, collection="manuals")
        removed = self.ask(
            "DELETE", f"{COLLECTION}/documents/{{document}}", collection="manuals", document="visitor-guide.pdf"
        )
        self.ask("DELETE", "/v1/jobs/{id}", id=removed["job"]["id"])
        self.ask("DELETE", COLLECTION, collection="manuals")


def shortened(body: Any) -> Any:
    """The body with its long lists cut."""
    if isinstance(body, dict):
        return {key: _cut(key, shortened(value)) for key, value in body.items()}
    return [shortened(element) for element in body] if isinstance(body, list) else body


def _cut(key: str, value: Any) -> Any:
    return value[:2] if key in SHORTENED and isinstance(value, list) else value


def differences(example: Any, body: Any, at: str = "") -> Iterator[str]:
    """Where two bodies have other fields, or values of other types; what one has not need not be compared."""
    if isinstance(example, dict) and isinstance(body, dict):
        for key in example.keys() ^ body.keys():
            yield f"{at}.{key} is in one of them alone"
        for key in example.keys() & body.keys():
            yield from differences(example[key], body[key], f"{at}.{key}")
    elif isinstance(example, list) and isinstance(body, list):
        for example_element, body_element in zip(example, body, strict=False):
            yield from differences(example_element, body_element, f"{at}[]")
    elif None not in (example, body) and kind_of(example) is not kind_of(body):
        yield f"{at} is {type(example).__name__} in one and {type(body).__name__} in the other"


def kind_of(value: object) -> type:
    """The type of a value; whole numbers and others are of one."""
    return float if type(value) is int else type(value)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        base, pdfs = Path(name), Path(__file__).parents[1] / "quoteweave" / "samples"
        add_documents(base / "samples", [pdfs / "pdf"])
        with server_of(pdfs, base / "samples", base) as running:
            made = Session(running).examples()
    lines = ",\n".join(example.model_dump_json() for example in made)
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")
    sys.stderr.write(f"{FILE}: {len(made)} examples\n")
