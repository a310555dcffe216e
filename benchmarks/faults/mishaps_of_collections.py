"""Mishaps of collections, runs and commands: what else writes to their folders, and what commands are given."""

# ruff: noqa: D103 - the name of each says what is tried

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from mishaps import PROSE, WORDS, Place, attack


def filled(place: Place, *towns: str) -> Place:
    """Add a document for each town."""
    for town in towns or ("Arnfeld", "Brede"):
        place.write(f"{town}.md", WORDS.format(town) + "\n\n" + PROSE)
    place.add()
    return place


@attack
def the_collection_is_moved_and_goes_on(place: Place) -> bool:
    filled(place)
    moved = place.root / "sub" / "möved here"
    moved.parent.mkdir()
    place.collection = place.collection.rename(moved)
    place.write("Celle.md", WORDS.format("Celle"))
    place.add()
    place.run("check", "-c", moved)
    return place.finds("harbour Celle") and place.finds("harbour Arnfeld") and not place.failed


@attack
def the_collection_is_moved_beneath_an_open_reader(place: Place) -> bool:
    from quoteweave import Collection, LexicalRetriever, Query

    with Collection.open(filled(place).collection) as opened:
        place.collection.rename(place.root / "moved")
        hits = LexicalRetriever(opened).search([Query(text="harbour Brede")], 5)[0]
        return "Brede" in hits[0].quote.text


@attack
def the_files_are_moved_to_another_folder(place: Place) -> bool:
    filled(place)
    place.files = place.files.rename(place.root / "elsewhere")
    place.add()
    return place.finds("harbour Arnfeld") and len(place.names()) in (2, 4)


@attack
def two_adds_at_once(place: Place) -> bool:
    for number in range(12):
        place.write(f"{number}.md", WORDS.format(f"Town{number}") + PROSE)
    command = [sys.executable, "-m", "quoteweave", "add", place.files, "-c", place.collection, "--no-ocr"]
    both = [subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [one.communicate()[1] for one in both]
    refused = [text for one, text in zip(both, told, strict=True) if one.returncode]
    place.said += " ".join(refused)
    return len(refused) < 2 and all("writ" in one for one in refused) and len(place.names()) == 12


@attack
def a_writer_that_is_stopped_and_wakes_later(place: Place) -> bool:
    filled(place, "Arnfeld")
    for number in range(30):
        place.write(f"{number}.md", WORDS.format(f"Town{number}") + PROSE)
    command = [sys.executable, "-m", "quoteweave", "add", place.files, "-c", place.collection, "--no-ocr"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as writer:
        time.sleep(3)
        writer.send_signal(signal.SIGSTOP)
        read = place.finds("harbour Arnfeld")
        place.run("remove", "Arnfeld.md", "-c", place.collection)
        told = "writ" in place.said or "Arnfeld.md" not in place.names()
        writer.send_signal(signal.SIGCONT)
    return read and told and len(place.names()) >= 30


@attack
def a_file_that_it_does_not_know_lies_in_it(place: Place) -> bool:
    filled(place)
    for name in ("notes.txt", "images/notes.txt", "indexes/x/y/notes.txt", "sources/.DS_Store", "Thumbs.db"):
        (place.collection / name).parent.mkdir(parents=True, exist_ok=True)
        (place.collection / name).write_text("mine")
    place.write("Celle.md", WORDS.format("Celle"))
    place.add()
    place.run("check", "-c", place.collection)
    kept = (place.collection / "notes.txt").exists() and (place.collection / "Thumbs.db").exists()
    return place.finds("harbour Celle") and kept


@attack
def a_folder_stands_where_its_lock_should(place: Place) -> bool:
    filled(place)
    (place.collection / "writer.lock").unlink()
    (place.collection / "writer.lock").mkdir()
    place.write("Celle.md", WORDS.format("Celle"))
    place.add()
    return place.finds("harbour Arnfeld") and (place.finds("harbour Celle") or "writer.lock" in place.said)


@attack
def a_folder_stands_where_its_catalogue_should(place: Place) -> bool:
    filled(place)
    (place.collection / "catalog.sqlite").unlink()
    (place.collection / "catalog.sqlite").mkdir()
    return not place.finds("harbour Arnfeld") and "catalog.sqlite" in place.said


@attack
def its_catalogue_is_a_link_to_another(place: Place) -> bool:
    filled(place)
    shutil.copytree(place.collection, place.root / "other")
    (place.collection / "catalog.sqlite").unlink()
    (place.collection / "catalog.sqlite").symlink_to(place.root / "other" / "catalog.sqlite")
    return place.finds("harbour Arnfeld") or "catalog.sqlite" in place.said


@attack
def a_log_of_another_catalogue_lies_beside_it(place: Place) -> bool:
    import sqlite3

    filled(place)
    other = sqlite3.connect(place.root / "other.sqlite")
    other.execute("PRAGMA journal_mode=WAL")
    other.execute("CREATE TABLE documents (a)")
    other.commit()
    shutil.copy(place.root / "other.sqlite-wal", place.collection / "catalog.sqlite-wal")
    return place.finds("harbour Arnfeld") or "catalog.sqlite" in place.said


@attack
def a_copy_is_made_with_links_for_files(place: Place) -> bool:
    filled(place)
    shutil.copytree(place.collection, place.root / "linked", copy_function=os.link)
    first, place.collection = place.collection, place.root / "linked"
    place.write("Celle.md", WORDS.format("Celle"))
    (place.files / "Brede.md").unlink()
    place.add()
    mine = place.finds("harbour Celle") and not place.finds("harbour Brede")
    place.collection = first
    place.run("check", "-c", first)
    # The first collection is as it was, or a message says what is wrong with it.
    return mine and (place.finds("harbour Brede") or str(first) in place.said)


@attack
def two_crops_change_places(place: Place) -> bool:
    sample = next((Path(__file__).parents[2] / "quoteweave/samples/pdf").glob("*.pdf"))
    place.write("a.pdf", sample.read_bytes())
    place.add()
    one, two = sorted(path for path in (place.collection / "images").rglob("*.*") if path.suffix in (".png", ".jpg"))[
        :2
    ]
    first = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(first)
    place.run("check", "-c", place.collection)
    return place.failed and one.name in place.said and two.name in place.said


@attack
def the_folder_cannot_be_written(place: Place) -> bool:
    filled(place)
    place.write("Celle.md", WORDS.format("Celle"))
    place.run("search", "harbour", "-c", place.collection)
    os.system(f"chmod -R a+rX,a-w {place.root}; chmod a+rwx {place.root}")
    nobody = "import os, quoteweave.cli.commands.add, quoteweave.documents.ingest\nos.setuid(65534)"
    place.add(before=nobody)
    told = place.failed and str(place.collection) in place.said
    return told and place.finds("harbour Arnfeld") and "Celle.md" not in place.names()


@attack
def a_process_that_reads_files_is_killed(place: Place) -> bool:
    for number in range(6):
        place.write(f"{number}.md", WORDS.format(f"Town{number}"))
    place.write("bad.md", "KILL ME")
    kill = (
        "from quoteweave.documents.reflow import text_files\nimport os\nread = text_files.read_text\n"
        "def reading(path, **given):\n    if path.name == 'bad.md': os.kill(os.getpid(), 9)\n"
        "    return read(path, **given)\n"
        "from quoteweave.documents.reflow import markdown\nmarkdown.read_text = reading\n"
    )
    site = place.root / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(f"import sys\nif 'spawn' in ' '.join(sys.orig_argv): exec({kill!r})\n")
    place.add(PYTHONPATH=f"{site}:{os.environ.get('PYTHONPATH', '')}")
    others = {f"{number}.md" for number in range(6)} <= set(place.names())
    return others and ("bad.md" in place.said or "bad.md" in place.names())


@attack
def it_is_stopped_by_the_keyboard_again_and_again(place: Place) -> bool:
    for number in range(40):
        place.write(f"{number}.md", WORDS.format(f"Town{number}") + PROSE)
    command = list(
        map(str, [sys.executable, "-m", "quoteweave", "add", place.files, "-c", place.collection, "--no-ocr"])
    )
    for pause in (1.0, 2.0, 3.0):
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            time.sleep(pause)
            for _ in range(3):
                writer.send_signal(signal.SIGINT)
            place.said += "".join(writer.communicate())
    place.add()
    return len(place.names()) == 40 and place.finds("harbour Town39")


@attack
def what_is_printed_is_not_read_to_its_end(place: Place) -> bool:
    filled(place)
    command = f"{sys.executable} -m quoteweave list -c {place.collection} --json | head -c 5"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    place.said += done.stderr
    return done.stdout == done.stdout[:5] and "rror" not in done.stderr


@attack
def questions_that_no_one_asks(place: Place) -> bool:
    filled(place)
    odd = ["", " \n", "\u200b\u202e", "'; DROP TABLE quotes; --", "harbour\x1b[31m", "((((" * 99]
    odd += ['"harbour', "*" * 9999, "a" * 9999, "?!…", "NOT OR AND NEAR(", "𝕳arbour 🚢", "\u0301" * 999, "%s %n {0}"]
    for text in odd:
        for command in ("search", "ask"):
            before = len(place.said)
            place.run(command, "-c", place.collection, "--", text)
            if len(place.said) == before:
                return False
    return "\x1b" not in place.said and place.finds("harbour Arnfeld")


@attack
def ids_and_names_that_lead_out_of_the_folder(place: Place) -> bool:
    filled(place)
    for name in ("../../etc/passwd", "/etc/passwd", "..", "a:0:0/../../x", "%2e%2e"):
        place.run("show", name, "-c", place.collection, "--out", place.root / "shown")
        place.run("remove", name, "-c", place.collection)
    return (
        "root:" not in place.said
        and len(place.names()) == 2
        and place.said.count("Error") + place.said.count("no ") > 5
    )


@attack
def a_collection_is_added_to_itself(place: Place) -> bool:
    filled(place)
    place.run("add", place.collection, "-c", place.collection, "--no-ocr")
    place.run("add", place.root, "-c", place.collection, "--no-ocr")
    return place.finds("harbour Arnfeld") and not any("catalog" in name for name in place.names())


@attack
def a_run_with_the_record_of_another(place: Place) -> bool:
    from quoteweave.core.examples import Prediction
    from quoteweave.core.runs import RunRecord, open_run, read_run

    for name in ("one", "two"):
        with open_run(place.root / name, RunRecord(configuration={"retriever": name})) as run:
            run.append(Prediction(example="1", response=name))
    shutil.copy(place.root / "two" / "run.json", place.root / "one" / "run.json")
    with open_run(place.root / "one", RunRecord(configuration={"retriever": "one"})):
        pass
    return read_run(place.root / "one")[1][0].response == "one"


@attack
def a_configuration_of_odd_values(place: Place) -> bool:
    filled(place)
    (place.root / "q.jsonl").write_text('{"question": "Which harbour?"}\n')
    for text in (
        "limits = 3",
        "quotes = 1e999",
        "model = ['x']",
        "[limits]\nmax_usd = nan",
        "a" * 10**6,
        "\x00",
        "= =",
    ):
        (place.root / "c.toml").write_text(text)
        before, place.failed = len(place.said), False
        given = ("--dataset", "questions", "--references", "q.jsonl", "--config", "c.toml", "--out", "out")
        place.run("run", *given, "-c", place.collection)
        if not place.failed or ("c.toml" not in place.said[before:] and "max_usd" not in place.said[before:]):
            place.said += f" <- {text[:40]!r}"
            return False
    return True


@attack
def a_server_of_a_collection_that_vanishes(place: Place) -> bool:
    from quoteweave import Collection, LexicalRetriever, Query

    with Collection.open(filled(place).collection) as opened:
        while place.collection.exists():  # an open connection may create a file while the others are removed
            shutil.rmtree(place.collection, ignore_errors=True)
        hits = LexicalRetriever(opened).search([Query(text="harbour Brede")], 5)[0]
        return "Brede" in hits[0].quote.text


@attack
def a_collection_of_a_later_format(place: Place) -> bool:
    filled(place)
    path = place.collection / "collection.json"
    found = json.loads(path.read_text())
    path.write_text(json.dumps({**found, "format": 999}))
    return not place.finds("harbour Arnfeld") and "collection.json" in place.said
