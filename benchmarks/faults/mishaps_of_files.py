"""Mishaps of files that are added: odd names, odd places, and changes while they are added."""

# ruff: noqa: D103 - the name of each says what is tried

import json
import os
import socket
import unicodedata
import zipfile
from pathlib import Path

from mishaps import PROSE, WORDS, Place, attack

# Code that runs after the files have been found and before they are read.
MEANWHILE = """
from quoteweave.documents import ingest
found = ingest.find_files
def find(*given, **named):
    files = found(*given, **named)
    import os, pathlib
    folder = pathlib.Path({folder!r})
    {act}
    return files
ingest.find_files = find
"""
ESCAPE = "\x1b"


def meanwhile(place: Place, act: str) -> str:
    """The code for `before` that does something after the files were found."""
    return MEANWHILE.format(folder=str(place.files), act=act)


@attack
def a_file_is_renamed_while_it_is_added(place: Place) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    place.write("b.md", WORDS.format("Brede"))
    place.add(before=meanwhile(place, "os.rename(folder / 'b.md', folder / 'c.md')"))
    told = "b.md" in place.said
    place.add()
    return told and set(place.names()) == {"a.md", "c.md"} and place.finds("harbour Brede")


@attack
def a_file_changes_between_being_found_and_being_read(place: Place) -> bool:
    path = place.write("a.md", WORDS.format("Arnfeld"))
    place.add(before=meanwhile(place, f"(folder / 'a.md').write_text({WORDS.format('Brede')!r})"))
    place.add()
    return place.finds("harbour Brede") and not place.finds("harbour Arnfeld") and path.exists()


@attack
def a_folder_takes_the_place_of_a_file_while_it_is_added(place: Place) -> bool:
    return _is_told_what_takes_the_place_of_a_file(place, "os.mkdir")


@attack
def a_pipe_takes_the_place_of_a_file_while_it_is_added(place: Place) -> bool:
    return _is_told_what_takes_the_place_of_a_file(place, "os.mkfifo")


def _is_told_what_takes_the_place_of_a_file(place: Place, makes: str) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    place.write("b.md", WORDS.format("Brede"))
    place.add(before=meanwhile(place, f"os.unlink(folder / 'b.md'); {makes}(folder / 'b.md')"))
    return "b.md" in place.said and place.finds("harbour Arnfeld")


@attack
def the_folder_is_emptied_while_it_is_added(place: Place) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    place.add(before=meanwhile(place, "[one.unlink() for one in folder.iterdir()]"))
    return "a.md" in place.said and place.names() == []


@attack
def a_change_of_equal_length_with_the_old_time_is_seen(place: Place) -> bool:
    path = place.write("a.md", WORDS.format("Arnfeld"))
    place.add()
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text(WORDS.format("Brandau"))
    os.utime(path, ns=times)
    place.add()
    return place.finds("harbour Brandau") and not place.finds("harbour Arnfeld")


@attack
def files_are_from_before_1970_and_from_the_future(place: Place) -> bool:
    for name, when in (("a.md", -(10**9)), ("b.md", 2**40), ("c.md", 0)):
        os.utime(place.write(name, WORDS.format(name[0].upper() + "rnfeld")), (when, when))
    place.add()
    first = place.finds("harbour Brnfeld")
    place.add()
    return first and len(place.names()) == 3


@attack
def the_clock_goes_back_between_two_commands(place: Place) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    place.add()
    place.write("b.md", WORDS.format("Brede"))
    place.add(before="import time; now = time.time; time.time = lambda: now() - 10**9")
    return place.finds("harbour Brede") and place.finds("harbour Arnfeld")


@attack
def names_that_differ_in_their_unicode_form_alone(place: Place) -> bool:
    name = "Übersicht é.md"
    for same, town in ((unicodedata.normalize("NFC", name), "Arnfeld"), (unicodedata.normalize("NFD", name), "Brede")):
        place.write(same, WORDS.format(town))
    place.add()
    return len(place.names()) == 2 and place.finds("harbour Arnfeld") and place.finds("harbour Brede")


@attack
def a_name_with_escapes_for_the_terminal(place: Place) -> bool:
    place.write(f"{ESCAPE}]0;owned\x07{ESCAPE}[31mred\u202egnp.md", WORDS.format("Arnfeld"))
    place.add()
    place.run("list", "-c", place.collection)
    place.run("search", "harbour", "-c", place.collection)
    place.run("ask", "Which harbour received grain?", "-c", place.collection)
    place.run("remove", "no such name", "-c", place.collection)
    return ESCAPE not in place.said and "Arnfeld" in place.said


@attack
def names_of_line_ends_dashes_dots_and_blanks(place: Place) -> bool:
    names = [
        "-c.md",
        "--help.md",
        " .md",
        "a\nb.md",
        "a\tb.md",
        "%s{0}.md",
        "con.md",
        "a'b\"c.md",
        "😀" * 60 + ".md",
    ]
    for name in names:
        place.write(name, WORDS.format("Arnfeld"))
    place.add()
    if sorted(place.names()) != sorted(names):
        return False
    place.run("remove", "-c", place.collection, "--", "--help.md")
    return "--help.md" not in place.names() or place.failed


@attack
def a_locale_without_unicode(place: Place) -> bool:
    place.write("Öl é 漢.md", WORDS.format("Ärnfeld"))
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii"}
    place.add(**plain)
    place.run("search", "harbour", "-c", place.collection, **plain)
    place.run("list", "-c", place.collection, **plain)
    return place.finds("harbour Ärnfeld")


@attack
def links_to_devices_sockets_and_to_themselves(place: Place) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    (place.files / "zero.md").symlink_to("/dev/zero")
    (place.files / "loop.md").symlink_to("loop.md")
    (place.files / "up").symlink_to(place.files)
    (place.files / "gone.md").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(place.files / "s.md"))
        place.add()
    told = all(name in place.said for name in ("zero.md", "loop.md", "gone.md", "s.md"))
    return told and place.names() == ["a.md"]


@attack
def a_link_that_comes_to_lead_elsewhere(place: Place) -> bool:
    for name, town in (("one.txt", "Arnfeld"), ("two.txt", "Brede")):
        (place.root / name).write_text(WORDS.format(town))
    (place.files / "a.md").symlink_to(place.root / "one.txt")
    place.add()
    (place.files / "a.md").unlink()
    (place.files / "a.md").symlink_to(place.root / "two.txt")
    place.add()
    return place.finds("harbour Brede") and not place.finds("harbour Arnfeld")


@attack
def text_in_utf_16_without_a_mark(place: Place) -> bool:
    place.write("a.txt", "Гавань приняла зерно.\n".encode("utf-16-le"))
    place.write("b.txt", WORDS.format("Brede").encode("utf-16-be"))
    place.add()
    guessed = place.said.count("encoding is unknown") == 2 and place.finds("Гавань зерно") and place.finds("Brede")
    return guessed or (all(name in place.said for name in ("a.txt", "b.txt")) and place.names() == [])


@attack
def text_in_utf_32(place: Place) -> bool:
    place.write("a.txt", "Гавань приняла зерно 😀.\n".encode("utf-32"))
    place.add()
    return place.finds("Гавань зерно") or "a.txt" in place.said.replace(str(place.files), "").partition("warn")[2]


@attack
def a_program_called_a_text(place: Place) -> bool:
    place.write("a.txt", Path(os.path.realpath("/bin/true")).read_bytes())
    place.add()
    return any(word in place.said.lower() for word in ("not valid", "encoding", "binary", "control", "no text"))


@attack
def a_text_of_zeros(place: Place) -> bool:
    place.write("a.txt", bytes(10**6))
    place.add()
    return "a.txt" in place.said and place.names() == []


@attack
def a_pdf_behind_a_kilobyte_of_rubbish_and_one_called_txt(place: Place) -> bool:
    sample = next((Path(__file__).parents[2] / "quoteweave/samples/pdf").glob("*.pdf")).read_bytes()
    place.write("a.pdf", b"x" * 1000 + sample)
    place.write("b.txt", sample)
    place.write("c.pdf", sample + b"\n" * 5000 + b"trailing rubbish")
    place.add()
    return set(place.names()) | {name for name in ("a.pdf", "b.txt", "c.pdf") if name in place.said} == {
        "a.pdf", "b.txt", "c.pdf"
    } and "b.txt" in place.said  # fmt: skip


@attack
def an_archive_called_pdf_html_and_md(place: Place) -> bool:
    for name in ("a.pdf", "a.html", "a.md", "a.txt"):
        with zipfile.ZipFile(place.files / name, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("inner.txt", bytes(10**7))
    place.add()
    return place.names() == [] and all(name in place.said for name in ("a.pdf", "a.html", "a.md", "a.txt"))


@attack
def pictures_that_lead_out_of_the_folder(place: Place) -> bool:
    (place.root / "secret.png").write_bytes(_png())
    addresses = ("../secret.png", "file:///etc/passwd", "/proc/self/environ", "%2e%2e/secret.png", "\\\\host\\a.png")
    place.write("a.md", WORDS.format("Arnfeld") + "".join(f"\n\n![x]({one})" for one in addresses))
    place.write("a.html", WORDS.format("Brede") + "".join(f"<img src='{one}'>" for one in addresses))
    place.add()
    found = place.run("search", "harbour x", "-c", place.collection, "--json")
    return "secret.png" in place.said and json.loads(found)["hits"] and '"kind": "image"' not in found


@attack
def a_thousand_files_are_opened_at_most(place: Place) -> bool:
    for number in range(60):
        place.write(f"{number}.md", WORDS.format(f"Town{number}"))
    place.add(before="import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))")
    if place.failed:
        return "Too many open files" in place.said or "ulimit" in place.said
    return place.finds("harbour Town59")


@attack
def a_quota_of_the_disk_is_reached(place: Place) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    place.add()
    place.write("b.md", "\n\n".join(f"{PROSE} {number}" for number in range(300)))
    place.add(before="import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))")
    return place.failed and str(place.root) in place.said and place.finds("harbour Arnfeld")


@attack
def temporary_files_have_no_place(place: Place) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    place.add(TMPDIR="/nonexistent", TEMP="/nonexistent", TMP="/nonexistent", HOME="/nonexistent")
    return place.finds("harbour Arnfeld")


@attack
def the_working_folder_is_gone(place: Place) -> bool:
    place.write("a.md", WORDS.format("Arnfeld"))
    gone = f"import os; os.makedirs({str(place.root / 'here')!r}); os.chdir({str(place.root / 'here')!r}); "
    place.add(before=gone + f"os.rmdir({str(place.root / 'here')!r})")
    return "working folder no longer exists" in place.said or place.finds("harbour Arnfeld")


@attack
def an_import_of_deep_wide_and_endless_json(place: Place) -> bool:
    made = {
        "deep": "[" * 200_000,
        "deeper": '{"a":' * 100_000 + "1" + "}" * 100_000,
        "number": '{"pdf_info": [' + "9" * 200_000 + "]}",
        "twice": '{"pdf_info": [], "pdf_info": 3}',
        "odd": '{"pdf_info": NaN}',
        "long": '[{"type": "text", "text": "' + "a" * 30_000_000 + '", "page_idx": 0}]',
    }
    for name, text in made.items():
        path = place.root / f"{name}_content_list.json"
        path.write_text(text)
        before = len(place.said)
        place.run("import", "mineru", path, "-c", place.collection)
        if len(place.said) == before:
            return False
    return True


def _png() -> bytes:
    from io import BytesIO

    from PIL import Image

    buffer = BytesIO()
    Image.new("RGB", (99, 99), "red").save(buffer, "PNG")
    return buffer.getvalue()
