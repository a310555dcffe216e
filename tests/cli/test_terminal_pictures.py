"""Which terminals are sent pictures, how large, and what `ask` writes on one."""

import base64
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from fcntl import ioctl
from io import BytesIO, StringIO
from pathlib import Path
from typing import IO, get_args

import pytest
from command_line import Outcome, Quoteweave
from drawn_pictures import from_kitty, from_sixel
from PIL import Image

from quoteweave.cli.terminal_pictures import (
    BY_VARIABLE,
    MAX_PIXELS,
    NESTING_VARIABLES,
    PicturesName,
    Screen,
    picture_sequences,
    pictures_on_stdout,
    protocol_of,
    screen_of,
    stored_crops_of,
)
from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter
from quoteweave.testing import ModelServer, Reply

QUESTION = "Which quarter of 2023 had the most vessel calls?"
KITTY, ITERM, SIXEL, OFF = PROTOCOLS = get_args(PicturesName)[1:]
X = {"TERM": "xterm-256color"}
SCREEN = Screen(80, 40, 10, 20)
PICTURE = re.compile(r"(?:\x1b_G[^\x1b]*\x1b\\)+\n")
# What the terminal that runs the tests may say of itself, and of its size.
ELSEWHERE = ("TERM_PROGRAM", "NO_COLOR", "FORCE_COLOR", "QUOTEWEAVE_PICTURES", *NESTING_VARIABLES, *BY_VARIABLE)
SIZE = ("COLUMNS", "LINES")


@pytest.mark.parametrize(
    ("environment", "protocol"),
    [
        ({}, OFF),
        (X, OFF),
        ({"TERM": "linux"}, OFF),
        ({"TERM": "xterm-kitty"}, KITTY),
        ({"TERM": "xterm-ghostty"}, KITTY),
        ({**X, "KITTY_WINDOW_ID": "1"}, KITTY),
        ({**X, "GHOSTTY_RESOURCES_DIR": "/usr/share/ghostty"}, KITTY),
        ({**X, "TERM_PROGRAM": "ghostty"}, KITTY),
        ({**X, "KONSOLE_VERSION": "220400"}, KITTY),
        ({**X, "KONSOLE_VERSION": "211203"}, OFF),
        ({**X, "KONSOLE_VERSION": "new"}, OFF),
        ({**X, "TERM_PROGRAM": "iTerm.app"}, ITERM),
        ({**X, "TERM_PROGRAM": "WezTerm"}, ITERM),
        ({"TERM": "wezterm"}, ITERM),
        ({**X, "TERM_PROGRAM": "mintty"}, ITERM),
        ({"TERM": "foot"}, SIXEL),
        ({"TERM": "foot-extra"}, SIXEL),
        ({"TERM": "mlterm-256color"}, SIXEL),
        ({**X, "WT_SESSION": "0"}, SIXEL),
        ({"WT_SESSION": "0"}, SIXEL),
        # Terminals that were started from another one have its variables, too.
        ({**X, "TERM_PROGRAM": "vscode", "KITTY_WINDOW_ID": "1"}, OFF),
        ({**X, "TERM_PROGRAM": "Apple_Terminal"}, OFF),
        ({"TERM": "xterm-kitty", "TERM_PROGRAM": "iTerm.app"}, KITTY),
        # No pictures there, or none wanted.
        ({"TERM": "dumb", "KITTY_WINDOW_ID": "1"}, OFF),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, OFF),
        ({"TERM": "xterm-kitty", "NO_COLOR": ""}, KITTY),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, OFF),
        ({"TERM": "screen.xterm-256color", "WT_SESSION": "1"}, OFF),
        *(({"TERM": "xterm-kitty", name: "1"}, OFF) for name in NESTING_VARIABLES),
    ],
)
def test_terminals_are_known_by_their_environment(environment: dict[str, str], protocol: PicturesName) -> None:
    assert protocol_of(environment) is protocol


@pytest.mark.parametrize(
    ("crop", "screen", "size"),
    [
        ((200, 100), SCREEN, (200, 100)),  # never enlarged
        ((1580, 200), SCREEN, (790, 100)),  # a column is left
        ((400, 960), SCREEN, (200, 480)),  # 24 rows
        ((100, 200), Screen(80, 7, 10, 20), (50, 100)),  # two rows are left
        ((3000, 1), SCREEN, (790, 1)),
        ((30, 30), Screen(1, 1, 10, 20), (10, 10)),
    ],
)
def test_pictures_fit_the_terminal(crop: tuple[int, int], screen: Screen, size: tuple[int, int]) -> None:
    assert from_sixel(picture_sequences(Image.new("RGB", crop, "red"), SIXEL, screen)).size == size


def test_pictures_have_no_more_pixels_than_can_be_sent_soon() -> None:
    width, height = from_sixel(
        picture_sequences(Image.new("RGB", (3000, 2000), "red"), SIXEL, Screen(500, 80, 20, 40))
    ).size
    assert width * height == pytest.approx(MAX_PIXELS, rel=0.01)


def test_iterm_is_told_cells() -> None:
    assert ";width=20;height=5:" in picture_sequences(Image.new("RGB", (205, 100)), ITERM, SCREEN)
    assert ";width=1;height=24:" in picture_sequences(Image.new("RGB", (2, 900)), ITERM, SCREEN)


@pytest.mark.parametrize("name", ["auto", OFF])
def test_what_is_no_protocol_is_refused(name: PicturesName) -> None:
    with pytest.raises(ValueError, match="no protocol"):
        picture_sequences(Image.new("RGB", (1, 1)), name, SCREEN)


@pytest.fixture
def ends() -> Iterator[tuple[int, IO[str]]]:
    """Both ends of a terminal: ours, and the program's."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream:
        yield ours, stream
    os.close(ours)


def sized(end: int, *, rows: int, columns: int, width: int = 0, height: int = 0) -> None:
    ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, width, height))


def test_a_terminal_tells_its_size_in_pixels(ends: tuple[int, IO[str]]) -> None:
    sized(ends[0], rows=30, columns=90, width=810, height=540)
    assert screen_of(ends[1]) == Screen(90, 30, 9, 18)
    sized(ends[0], rows=30, columns=90)
    assert screen_of(ends[1]) == Screen(90, 30, 8, 16)


def test_the_size_of_no_terminal_is_the_usual_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("LINES", "20")
    with (tmp_path / "file").open("w") as file:
        assert screen_of(file) == Screen(70, 20, 8, 16)
    assert screen_of(StringIO()) == Screen(70, 20, 8, 16)


@pytest.fixture
def kitty(quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch) -> Quoteweave:
    """The command line where stdout takes itself for kitty."""
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-kitty")

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)  # not before: a test's stdout is another one
        return quoteweave(*arguments)

    return run


@pytest.mark.parametrize(
    ("arguments", "environment", "shown"),
    [
        ((), {}, "\x1b_G"),
        ((), {"TERM": "foot"}, "\x1bPq"),
        ((), {"TMUX": "1"}, ""),
        ((), {"NO_COLOR": "1"}, ""),
        ((), {"TERM": "xterm-256color"}, ""),
        ((), {"TERM": "xterm-256color", "QUOTEWEAVE_PICTURES": "sixel"}, "\x1bPq"),
        ((), {"QUOTEWEAVE_PICTURES": "off"}, ""),
        (("--pictures", "auto"), {"QUOTEWEAVE_PICTURES": "off"}, "\x1b_G"),
        (("--pictures", "off"), {}, ""),
        (("--pictures", "iterm"), {}, "\x1b]1337;File="),
        (("--pictures", "sixel"), {"TMUX": "1", "NO_COLOR": "1"}, "\x1bPq"),
        (("--pictures", "sixel"), {"TERM": "dumb"}, ""),
        (("--pictures", "kitty", "--json"), {}, ""),
        (("--pictures", "kitty", "--events"), {}, ""),
    ],
)
def test_pictures_are_shown_where_they_can_be_or_are_asked_for(
    arguments: tuple[str, ...],
    environment: dict[str, str],
    shown: str,
    kitty: Quoteweave,
    sample_collection: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    told = kitty("ask", QUESTION, "-c", sample_collection, *arguments)
    assert (told.code, "image1" in told.out) == (0, True)
    assert {start for start in ("\x1b_G", "\x1bPq", "\x1b]1337") if start in told.out} == (
        {shown[:6]} if shown else set()
    )


@pytest.mark.parametrize("name", ["auto", *PROTOCOLS])
def test_what_is_no_terminal_gets_text_alone(
    name: PicturesName, quoteweave: Quoteweave, sample_collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-kitty")
    told = quoteweave("ask", QUESTION, "-c", sample_collection, "--pictures", name)
    assert (told.code, "\x1b" in told.out, "image1" in told.out) == (0, False, True)


def test_other_protocols_are_refused(
    quoteweave: Quoteweave, sample_collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("ask", QUESTION, "-c", sample_collection)
    got = quoteweave(*asked, "--pictures", "png")
    assert (got.code, got.out) == (2, "")
    assert "--pictures" in got.err
    monkeypatch.setenv("QUOTEWEAVE_PICTURES", "png")
    assert quoteweave(*asked).code == 2


def test_what_a_model_writes_as_it_comes_ends_with_its_pictures(kitty: Quoteweave, sample_collection: Path) -> None:
    with ModelServer([Reply(text="See ![bars](image1). And ![so](image1) on.", sizes=(3,))]) as server:
        told = kitty("ask", QUESTION, "-c", sample_collection, "--model", "m", "--base-url", server.base_url)
    text, picture, rest = PICTURE.split(told.out)[0], PICTURE.findall(told.out), PICTURE.split(told.out)[1:]
    assert text.startswith("See [image1: bars]. And [image1: so] on.")
    assert (len(picture), rest) == (1, [""])


@pytest.mark.parametrize("damage", ["missing", "other bytes"])
def test_a_crop_that_cannot_be_read_leaves_its_line(
    damage: str, kitty: Quoteweave, sample_collection: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(sample_collection, tmp_path / "collection")
    for crop in (copy / "images").rglob("*.png"):
        crop.unlink() if damage == "missing" else crop.write_bytes(b"no picture")
    told = kitty("ask", QUESTION, "-c", copy)
    assert (told.code, "\x1b_G" in told.out) == (0, False)
    assert told.out.count("image1") == 2
    assert "cannot be shown" in told.err


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_only_quotes_with_a_crop_have_something_to_show(
    sample_collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", written := Terminal())
    with Collection.open(sample_collection) as collection:
        show = pictures_on_stdout(KITTY, stored_crops_of(collection))
        assert show is not None
        for kind, starts in (("text", ""), ("image", "\x1b_Ga=T")):
            (quote,) = collection.quotes_at(collection.select(Filter(kind=kind)).tolist()[:1])
            assert quote is not None
            show(quote.id)
            show("0:0:0")  # which is no quote
            assert written.getvalue()[:6] == starts


def test_a_terminal_shows_the_crop_below_the_line_that_names_it(sample_collection: Path) -> None:
    asked = ("ask", QUESTION, "-c", sample_collection)
    written = in_terminal(*asked)
    (picture,) = PICTURE.findall(written)
    before, after = written.split(picture)
    assert before.splitlines()[-1].startswith("\x1b[1mimage1")
    assert before + after == in_terminal(*asked, "--pictures", "off")
    shown = Image.open(BytesIO(base64.b64decode("".join(from_kitty(picture.rstrip())[1]))))
    assert shown.size[0] <= 79 * 6
    assert shown.size[1] <= 24 * 12
    assert len(shown.convert("L").getcolors() or ()) > 2


def in_terminal(*arguments: object) -> str:
    """What the command writes on a terminal of 80 columns, which is kitty."""
    inherited = {name: value for name, value in os.environ.items() if name not in {*ELSEWHERE, *SIZE}}
    command = [sys.executable, "-m", "quoteweave", *map(str, arguments)]
    environment = {**inherited, "TERM": "xterm-kitty"}
    ours, theirs = pty.openpty()
    sized(ours, rows=40, columns=80, width=480, height=480)
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        written = b"".join(iter(lambda: read(ours), b""))
    os.close(ours)
    assert process.returncode == 0
    return written.decode().replace("\r\n", "\n")


def read(end: int) -> bytes:
    """The next bytes; none where the program has ended, which Linux tells as an error."""
    try:
        return os.read(end, 65536)
    except OSError:
        return b""
