import pytest
from command_line import Quoteweave

from quoteweave.retrievers.catalogue import catalogue
from quoteweave.retrievers.rerankers import reranker_rows


def test_every_model_is_listed_with_what_it_takes(quoteweave: Quoteweave) -> None:
    got = quoteweave("models")
    assert got.code == 0
    lines = {line.split()[0]: line for line in got.out.splitlines() if line.strip()}
    for name, row in catalogue().items():
        assert row.checkpoint in lines[name]
        assert f"{row.download_gb:g} GB" in lines[name]
    assert set(reranker_rows()) <= set(lines)


def test_json_holds_both_tables(quoteweave: Quoteweave) -> None:
    value = quoteweave("models", "--json").json()
    assert [row["name"] for row in value["retrievers"]] == list(catalogue())
    assert [row["name"] for row in value["rerankers"]] == list(reranker_rows())


def test_one_model_is_shown_whole(quoteweave: Quoteweave) -> None:
    got = quoteweave("models", "bge")
    assert "Represent this sentence" in got.out
    assert catalogue()["bge"].revision in got.out
    assert quoteweave("models", "bge-reranker").code == 0


def test_an_unknown_model(quoteweave: Quoteweave) -> None:
    got = quoteweave("models", "bges")
    assert (got.code, "there is no model 'bges'; did you mean 'bge'?" in got.err) == (2, True)
    assert quoteweave("models", "bges", "--json").code == 2
    assert "did you mean 'bge'?" in quoteweave("models", "BGE").err


@pytest.mark.parametrize(("columns", "with_checkpoints"), [(80, False), (120, True)])
def test_the_tables_fit_the_terminal_whole(
    quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch, columns: int, with_checkpoints: bool
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    got = quoteweave("models")
    assert "…" not in got.out
    assert max(len(line.rstrip()) for line in got.out.splitlines()) <= columns
    lines = {line.split()[0]: line for line in got.out.splitlines() if line.strip()}
    for name, checkpoint, licence in [
        *((row.name, row.checkpoint, row.licence) for row in catalogue().values()),
        *((row.name, row.checkpoint, row.licence) for row in reranker_rows().values()),
    ]:
        assert licence.split()[0] in lines[name]
        assert (checkpoint in lines[name]) == with_checkpoints


def test_names_are_never_cut(quoteweave: Quoteweave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = {line.split()[0] for line in quoteweave("models").out.splitlines() if line.strip()}
    assert {*catalogue(), *reranker_rows()} <= shown


def test_spaces_that_count_are_seen_and_revisions_of_nothing_are_not(quoteweave: Quoteweave) -> None:
    got = quoteweave("models", "e5")
    assert "'query: '" in got.out
    assert "query_revision" not in got.out
    assert "query_revision" in quoteweave("models", "dpr").out
