"""docs/serving.md says what is so: its requests are sent, its programs run, its settings are read and compared."""

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from command_reference import settings_table, with_settings
from live_server import LiveServer, Serve

from quoteweave.server.app import ROUTERS
from quoteweave.server.settings import read_server_settings

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "serving.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8321"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


def test_the_table_of_settings_is_that_of_the_code() -> None:
    assert settings_table() in GUIDE
    assert with_settings(GUIDE) == GUIDE, "write it anew: python tools/command_reference.py docs/serving.md"


def test_every_route_is_in_the_guide() -> None:
    named = " ".join(re.findall(r"`[^`]*`", GUIDE))
    paths = {route.path for router in ROUTERS for route in router.routes if hasattr(route, "path")}
    resources = {match[0] for path in paths if (match := re.search(r"[a-z]+$", re.sub(r"(/\{[^}]*\})+$", "", path)))}
    assert len(paths) > 25
    assert {name for name in resources if name not in named} == set()


def test_links_lead_to_files_and_headings() -> None:
    headings = re.findall(r"^#+ (.*)", re.sub(r"```.*?```", "", GUIDE, flags=re.DOTALL), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", re.sub(r"`[^`\n]*`", "", GUIDE))
    assert len(links) > 15
    for link in links:
        file, _, anchor = link.partition("#")
        assert anchor in anchors if not file else (ROOT / "docs" / file).exists(), link


def test_the_settings_shown_are_settings(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    shown = blocks("toml")
    assert len(shown) == 3
    for text in shown:
        file.write_text(text, "utf-8")
        assert read_server_settings(file, {})


def curl_commands() -> list[list[str]]:
    lines = "".join(blocks("console")).replace("\\\n", " ").splitlines()
    return [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ curl")]


def test_the_requests_of_the_guide_are_answered(
    serve: Serve, sample_collection: Path, samples: Path, tmp_path: Path
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    shutil.copytree(sample_collection, tmp_path / "port")
    shutil.copy(samples / "pdf" / "visitor-guide.pdf", tmp_path / "report.pdf")
    server = serve(collections={"port": tmp_path / "port"})
    commands, known = curl_commands(), {ADDRESS: server.url}
    assert len(commands) == 16
    for command in commands:
        text = json.dumps(command)
        for name, value in known.items():
            text = text.replace(name, value)
        done = subprocess.run(
            [*json.loads(text), "--silent", "--show-error", "--fail-with-body"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        known |= learnt(done.stdout)
    assert set(known) == {ADDRESS, "QUOTE_ID", "DOCUMENT", "PAGE", "CONVERSATION", "JOB"}
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "answers.docx").read_bytes().startswith(b"PK")


def learnt(body: str) -> dict[str, str]:
    """What later requests name by a word in capitals."""
    if not body.startswith("{"):
        return {}
    said = json.loads(body)
    found: dict[str, str] = {}
    if said.get("hits"):
        hit = said["hits"][0]
        found |= {"QUOTE_ID": str(hit["quote_id"]), "DOCUMENT": str(hit["document"]), "PAGE": str(hit["page"])}
    if said.get("conversation"):
        found["CONVERSATION"] = str(said["conversation"])
    if (said.get("job") or {}).get("kind") == "add":
        found["JOB"] = str(said["job"]["id"])
    return found


def test_the_streams_of_the_guide_end_as_it_says(live: LiveServer) -> None:
    question = {"question": "How many vessel calls did the port receive?", "stream": True, "store": False}
    events = live.client.post("/v1/collections/port/answers", json=question).text
    assert re.findall(r"^event: (\w+)", events, re.MULTILINE)[0] == "sources"
    assert re.findall(r"^event: (\w+)", events, re.MULTILINE)[-1] == "answer"
    vercel = live.client.post("/v1/collections/port/answers", json={**question, "format": "vercel"}).text
    types = set(re.findall(r'^data: \{"type":"([\w-]+)"', vercel, re.MULTILINE))
    assert {"text-start", "source-url", "data-sources", "data-citation", "data-answer", "finish"} <= types
    assert vercel.rstrip().endswith("data: [DONE]")


def test_the_programs_of_the_guide_run(live: LiveServer) -> None:
    pytest.importorskip("openai")
    programs = [code for code in blocks("python") if ADDRESS in code]
    assert len(programs) == 2
    told = io.StringIO()
    for code in programs:
        with contextlib.redirect_stdout(told):
            exec(compile(code.replace(ADDRESS, live.url), "docs/serving.md", "exec"), {})
    lines = told.getvalue().splitlines()
    assert "harbour-report.pdf" in lines[0]
    assert f"{live.url}/c/port/q/" in lines[0]
    assert {"sources", "text", "answer"} <= set(lines)
    assert lines[-2].startswith(f"{live.url}/c/port/q/")
    assert "'bbox_fraction'" in lines[-1]
