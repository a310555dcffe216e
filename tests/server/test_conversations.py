"""Conversations that a server keeps: who sees them, what is found of them, and what no end of the process loses."""

import signal
import sqlite3
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from forked_programs import ForkedProgram
from made_collections import make_collection

from quoteweave.core.errors import ConversationNotFound, StateError, UsageError
from quoteweave.generation.citations import build_answer
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.rag import Answered, Rag
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.server.answers.stored_answers import history_of
from quoteweave.server.state.conversation_file import CONVERSATIONS_FILE
from quoteweave.server.state.conversations import ConversationStore, NewTurn, Viewer

QUESTION = "How much grain was shipped in May?"


class Clock:
    """Says a second more each time."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Answered:
    texts = ["The harbour shipped 4,210 tonnes of grain in May.", "Timber went by rail."]
    with make_collection(tmp_path_factory.mktemp("port"), {"port.md": texts}) as collection:
        return Rag(LexicalRetriever(collection), ExtractiveGenerator()).answer_with_context(QUESTION)


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "state", clock=Clock())


def ask(store: ConversationStore, answered: Answered, question: str = QUESTION, owner: str | None = None) -> str:
    """A conversation with one question; its id."""
    made = store.create("port", owner)
    store.append(made.id, NewTurn(question, answered), collection="port")
    return made.id


def test_a_question_may_follow_an_answer_of_any_length(store: ConversationStore, answered: Answered) -> None:
    text = "Grain. " * 50_000
    long = answered.model_copy(update={"answer": build_answer(QUESTION, text, answered.context, model="m")})
    history = history_of(store.get(ask(store, long)).turns)
    assert [message.role for message in history] == ["user", "assistant"]


def test_a_conversation_is_kept_whole(store: ConversationStore, answered: Answered, tmp_path: Path) -> None:
    made = store.create("port", "k1")
    first = store.append(made.id, NewTurn(QUESTION, answered, settings={"size": "C15"}), collection="port")
    second = store.append(made.id, NewTurn("And timber?", answered, "How did timber go?"), collection="port")
    store.close()
    found = ConversationStore(tmp_path / "state").get(made.id)
    assert found.turns == (first, second)
    assert found.turns[0].answered == answered
    assert found.turns[0].answered.answer.citations
    assert (found.turns[0].settings, found.turns[1].standalone_question) == ({"size": "C15"}, "How did timber go?")
    assert (found.title, found.questions, found.owner, found.collection) == (QUESTION, 2, "k1", "port")
    assert made.created < second.created == found.updated


def test_a_key_sees_its_own_conversations_only(store: ConversationStore, answered: Answered) -> None:
    mine, theirs, local = (ask(store, answered, owner=owner) for owner in ("k1", "k2", None))
    me = Viewer("k1", everyone=False)
    assert [each.id for each in store.list(me)] == [mine]
    assert [each.id for each in store.list()] == [local, theirs, mine]
    assert [each.id for each in store.list(Viewer(everyone=False))] == [local]
    for refused in (
        lambda: store.get(theirs, me),
        lambda: store.rename(theirs, "mine now", me),
        lambda: store.delete(theirs, me),
        lambda: store.append(theirs, NewTurn(QUESTION, answered), collection="port", viewer=me),
        lambda: store.get("unknown", me),
    ):
        with pytest.raises(ConversationNotFound, match="there is no conversation"):
            refused()
    assert store.get(theirs).title == QUESTION
    assert store.list(Viewer(collections=("other",))) == store.list(Viewer(collections=())) == ()
    with pytest.raises(ConversationNotFound):
        store.get(mine, Viewer(collections=("other",)))


def test_lists_are_by_collection_the_last_used_first_and_by_words(store: ConversationStore, answered: Answered) -> None:
    grain, timber = ask(store, answered), ask(store, answered, "Ging ÖL auf die Bahn? 100%")
    other = store.create("other", None, "Grain elsewhere").id
    assert [each.id for each in store.list(collection="port")] == [timber, grain]
    store.append(grain, NewTurn("And what of Öl_Preise?", answered), collection="port")
    assert [each.id for each in store.list()] == [grain, other, timber]
    assert [each.id for each in store.list(limit=1, offset=1)] == [other]
    searches = {
        "GRAIN": [grain, other],
        "öl": [grain, timber],
        "grain preise": [grain],
        "100%": [timber],
        "%": [timber],
    }
    assert {words: [each.id for each in store.list(words=words)] for words in searches} == searches
    assert [each.id for each in store.list(words="l_p")] == [grain]


def test_a_title_can_be_changed_and_is_searched(store: ConversationStore, answered: Answered) -> None:
    made = ask(store, answered)
    assert store.rename(made, f"  Freight\nof {'May ' * 60}").title.startswith("Freight of May May")
    assert len(store.get(made).title) <= 200
    assert [each.id for each in store.list(words="freight shipped")] == [made]
    store.append(made, NewTurn("And timber?", answered), collection="port")
    assert store.list(words="freight timber")[0].title.startswith("Freight")
    with pytest.raises(UsageError, match="the title is empty"):
        store.rename(made, " \n")


def test_a_question_of_another_collection_is_refused(store: ConversationStore, answered: Answered) -> None:
    made = ask(store, answered)
    with pytest.raises(UsageError, match="is about the collection 'port', not 'other'"):
        store.append(made, NewTurn(QUESTION, answered), collection="other")
    assert store.get(made).questions == 1


def test_a_quote_is_found_as_it_was_when_it_was_cited(store: ConversationStore, answered: Answered) -> None:
    made = ask(store, answered, owner="k1")
    citation = answered.answer.citations[0]
    found = store.find_quote("port", citation.quote_id)
    assert found is not None
    assert found.quote == answered.context.quote(citation.kind, citation.number)
    assert (found.regions, found.conversation) == (citation.regions, made)
    assert found.turn == store.get(made).turns[0].id
    (uncited,) = {hit.quote.id for hit in answered.context.texts} - {
        each.quote_id for each in answered.answer.citations
    }
    assert (kept := store.find_quote("port", uncited)) is not None
    assert kept.regions == ()
    assert store.find_quote("other", citation.quote_id) is None
    assert store.find_quote("port", "0:0:0") is None
    assert store.find_quote("port", citation.quote_id, Viewer("k2", everyone=False)) is None


def test_what_is_deleted_leaves_no_byte(store: ConversationStore, answered: Answered) -> None:
    kept, made = ask(store, answered, "Which ship?"), ask(store, answered, "Who wrote xylophonist?")
    files = [store.path, Path(f"{store.path}-wal")]
    assert any(b"xylophonist" in file.read_bytes() for file in files)
    store.delete(made)
    assert not any(b"xylophonist" in file.read_bytes() for file in files)
    assert [each.id for each in store.list()] == [kept]
    assert store.find_quote("port", answered.answer.citations[0].quote_id) is not None
    store.delete(kept)
    assert store.find_quote("port", answered.answer.citations[0].quote_id) is None


def test_what_is_about_a_collection_is_deleted_with_it(store: ConversationStore, answered: Answered) -> None:
    for owner in ("k1", None):
        ask(store, answered, "Where did the wolframite go?", owner)
    other = store.create("other", None)
    assert (store.delete_about("port"), store.delete_about("port"), store.delete_about("nope")) == (2, 0, 0)
    assert [each.id for each in store.list()] == [other.id]
    quote = next(iter(answered.context.texts)).quote
    assert store.find_quote("port", quote.id) is None
    store.close()
    assert not any(b"wolframite" in path.read_bytes() for path in store.path.parent.glob("conversations*"))


def test_the_file_is_closed_to_other_users(store: ConversationStore, answered: Answered) -> None:
    ask(store, answered)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in store.path.parent.glob(f"{CONVERSATIONS_FILE}*")}
    assert modes == {0o600}


KILLED = """
import sys
from pathlib import Path
from quoteweave.pipeline.rag import Answered
from quoteweave.server.state.conversations import ConversationStore, NewTurn
store = ConversationStore(Path(sys.argv[1]))
answered = Answered.model_validate_json(sys.stdin.readline())
made = store.create("port", None)
print(made.id, flush=True)
while True:
    print(store.append(made.id, NewTurn("Again?", answered), collection="port").id, flush=True)
"""


def test_a_process_that_is_killed_loses_nothing_that_it_had_kept(answered: Answered, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with ForkedProgram(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write(answered.model_dump_json() + "\n")
        writer.stdin.flush()
        made, *told = (writer.stdout.readline().strip() for _ in range(20))
        writer.send_signal(signal.SIGKILL)
        told += [line.strip() for line in writer.stdout if line.endswith("\n")]
    store = ConversationStore(tmp_path)
    assert store.warning is None
    assert [turn.id for turn in store.get(made).turns][: len(told)] == told


@pytest.mark.parametrize("damage", ["no database", "middle"])
def test_a_damaged_file_is_told_and_set_aside(tmp_path: Path, answered: Answered, damage: str) -> None:
    store = ConversationStore(tmp_path)
    for _ in range(10):
        ask(store, answered)
    store.close()
    data = bytearray(store.path.read_bytes())
    data[: 4096 if damage == "no database" else 0] = b"not this" * 512 if damage == "no database" else b""
    data[8192:16384] = b"\xff" * 8192
    store.path.write_bytes(data)
    begun = ConversationStore(tmp_path)
    (aside,) = tmp_path.glob("conversations.damaged-*.sqlite")
    assert begun.warning is not None
    assert aside.name in begun.warning
    assert aside.read_bytes() == data
    made = ask(begun, answered)
    assert [each.id for each in begun.list()] == [made]
    assert ConversationStore(tmp_path).warning is None


def test_a_turn_that_changed_on_the_disk_is_told_and_can_be_deleted(
    store: ConversationStore, answered: Answered
) -> None:
    made = ask(store, answered)
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE turns SET record = replace(record, '4,210', '4,201')")
    db.close()
    with pytest.raises(StateError, match=r"its checksum does not fit.*delete the conversation"):
        store.get(made)
    assert [each.id for each in store.list()] == [made]
    store.delete(made)
    assert store.list() == ()


def test_a_file_of_a_newer_version_is_left_alone(store: ConversationStore, tmp_path: Path) -> None:
    store.close()
    with sqlite3.connect(store.path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StateError, match="was written by a newer version"):
        ConversationStore(tmp_path / "state")
    assert [path.name for path in (tmp_path / "state").glob("*.damaged*")] == []
