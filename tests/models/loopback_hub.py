"""A hub of models on loopback, which serves folders to huggingface_hub's own download code."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class LoopbackHub(ThreadingHTTPServer):
    """Serves `<root>/<owner>/<name>` as the model `owner/name`, at one commit, which `main` points to."""

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.sent: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackHub

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def _answer(self, *, body: bool) -> None:
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        is_api = parts[:2] == ["api", "models"]
        asked = parts[2:] if is_api else parts
        owner, name, route, revision = [*asked, "", "", "", ""][:4]
        folder = self.server.root / owner / name
        if not folder.is_dir() or revision not in ("main", COMMIT):
            missing = "RepoNotFound" if not folder.is_dir() else "RevisionNotFound"
            self._send(404, b"{}", {"X-Error-Code": missing}, body=body)
        elif is_api and route == "revision":
            description = {
                "id": f"{owner}/{name}",
                "sha": COMMIT,
                "siblings": [{"rfilename": path, "size": (folder / path).stat().st_size} for path in _files(folder)],
            }
            self._send(200, json.dumps(description).encode(), {"Content-Type": "application/json"}, body=body)
        elif is_api and route == "tree":
            listed = [{"type": "file", "path": path, **_facts(folder / path)} for path in _files(folder)]
            self._send(200, json.dumps(listed).encode(), {"Content-Type": "application/json"}, body=body)
        else:
            self._send_file(folder, "/".join(asked[4:]), body=body)

    def _send_file(self, folder: Path, path: str, *, body: bool) -> None:
        data = (folder / path).read_bytes()
        if body:
            self.server.sent.append(path)
        self._send(200, data, {"X-Repo-Commit": COMMIT, "ETag": f'"{_facts(folder / path)["oid"]}"'}, body=body)

    def _send(self, status: int, data: bytes, headers: dict[str, str], *, body: bool) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _facts(file: Path) -> dict[str, object]:
    data = file.read_bytes()
    return {"size": len(data), "oid": hashlib.sha1(data).hexdigest()}


@contextmanager
def serving(root: Path) -> Iterator[LoopbackHub]:
    with LoopbackHub(root) as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()
