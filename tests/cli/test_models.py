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
    got = quoteweave("models", "begs")
    assert (got.code, "no model is named 'begs'" in got.err) == (2, True)
