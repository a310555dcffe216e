"""The examples of docs/extending.md and docs/testing.md run, are short, and import public names; and at the edges."""

import ast
import asyncio
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from builders import make_context, make_example, make_hits, make_quote
from made_collections import make_collection

from quoteweave import (
    Collection,
    DatasetError,
    Filter,
    Prediction,
    Query,
    Quote,
    Reference,
    UsageError,
    add,
    attribute_by_agent,
    attribute_literature,
    import_parsed,
    open_literature,
)
from quoteweave.testing import (
    FakeChat,
    check_answer,
    check_metric,
    check_parser,
    check_reranker,
    check_retriever,
    check_source,
)

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "extending").glob("*.py"))
GUIDE = "\n".join((ROOT / "docs" / name).read_text("utf-8") for name in ("extending.md", "testing.md"))
MAIL = "From: Ada <ada@port.example>\nSubject: Freight\n\nGrain was shipped.\n\nTimber went by rail.\n"


def example(name: str) -> SimpleNamespace:
    """The names of one of the examples."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "extending" / f"{name}.py")))


def test_the_guide_prints_what_its_comments_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES[0].parent)
    code = "\n".join(re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL))
    said = re.findall(r"print\(.*\)  # (.*)", code)
    assert len(said) == code.count("print(") == 10
    exec(compile(code, "docs", "exec"), {})
    assert capsys.readouterr().out.splitlines() == said
    for path in EXAMPLES:  # named as other modules may be
        del sys.modules[path.stem]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_imports_public_names_alone(path: Path) -> None:
    text = path.read_text("utf-8")
    assert 20 <= len(text.splitlines()) <= 40
    assert f"(../examples/extending/{path.name})" in GUIDE
    modules = [node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    ours = {module for module in modules if module.startswith("quoteweave")}
    assert ours <= {"quoteweave", "quoteweave.evaluation"}


def test_there_is_an_example_of_each() -> None:
    assert [path.stem for path in EXAMPLES] == [
        "dataset",
        "generator",
        "metric",
        "parser",
        "reranker",
        "retriever",
        "source",
    ]


def test_a_mail_is_imported_and_stays_when_its_folder_is_added(tmp_path: Path) -> None:
    mails = tmp_path / "mails"
    mails.mkdir()
    (mails / "a.eml").write_text(MAIL)
    (mails / "b.eml").write_text("Content-Type: image/png\n\n")
    parser = example("parser").MailParser()
    check_parser(parser, mails / "a.eml")
    with Collection.create(tmp_path / "collection") as collection:
        report = import_parsed(collection, [mails / "a.eml", mails / "b.eml"], parser, metadata={"year": "2024"})
        assert (report.added, report.updated) == (("a.eml",), ())
        assert [(issue.name, issue.reason) for issue in report.failed] == [("b.eml", "'b.eml' has no plain text")]
        assert import_parsed(collection, [mails / "a.eml"], parser).updated == ("a.eml",)
        add(collection, [mails])
        (document,) = collection.documents()
        assert (document.name, document.format, document.quotes) == ("a.eml", "eml", 3)
        assert collection.document_quotes("a.eml")[1].section == "Freight"


def test_what_is_to_be_imported_is_a_file_and_has_a_name_of_its_own(tmp_path: Path) -> None:
    parser = example("parser").MailParser()
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.eml").write_text(MAIL)
    with Collection.create(tmp_path / "collection") as collection:
        with pytest.raises(UsageError, match="is no file"):
            import_parsed(collection, [tmp_path / "x"], parser)
        with pytest.raises(UsageError, match=r"2 files are called 'a\.eml'"):
            import_parsed(collection, [tmp_path / "x" / "a.eml", tmp_path / "y" / "a.eml"], parser)
        assert collection.documents() == []


def test_ngrams_find_what_is_misspelled(tmp_path: Path) -> None:
    quotes: list[Quote | str] = [
        "Timber by rail in spring.",
        "Grain by ship.",
        make_quote("a chart of coal", layout="chart"),
    ]
    with make_collection(tmp_path, {"port.pdf": quotes, "mill.pdf": ["The mill ground grain."]}) as collection:
        retriever = example("retriever").NgramRetriever(collection)
        queries = [Query(text="grian by shipp"), Query(text="coal charts"), Query(text="of grain")]
        found = check_retriever(retriever, queries)
        assert [hits[0].quote.text for hits in found[:2]] == ["Grain by ship.", "a chart of coal"]
        (hits,) = retriever.search([queries[2]], 5, where=Filter(documents=("mill.pdf",)))
        assert [hit.quote.document for hit in hits] == ["mill.pdf"]
        assert retriever.search([queries[0]], 0) == [[]]


def test_recent_documents_are_preferred() -> None:
    years = {"old": {"year": "2022"}, "undated": {}, "new": {"year": "2024"}}
    documents = [SimpleNamespace(name=name, metadata=said) for name, said in years.items()]
    reranker = example("reranker").PreferRecent(SimpleNamespace(documents=lambda: documents), keep=0.5)
    hits = make_hits(make_quote(name, document=name) for name in ("old", "undated", "new"))
    reranking = asyncio.run(check_reranker(reranker, Query(text="?"), hits))
    assert [(hit.quote.document, hit.score) for hit in reranking.hits] == [
        ("new", 1 / 3),
        ("old", 0.25),
        ("undated", 0.125),
    ]


def test_the_best_quote_is_cited_or_nothing() -> None:
    generator, context = example("generator").BestQuote(), make_context("It rained.", "Grain [9] was shipped.")
    answer = asyncio.run(generator.answer(Query(text="Was grain shipped?"), context))
    check_answer(answer, context)
    assert (answer.text, answer.unresolved) == ("Grain (9) was shipped. [2]", ())
    for none in (make_context(), make_context("It rained.")):
        abstained = asyncio.run(generator.answer(Query(text="Timber?"), none))
        check_answer(abstained, none)
        assert (abstained.status, abstained.citations) == ("abstained", ())


def test_cited_pages_are_counted_or_undefined() -> None:
    context = make_context(make_quote("Grain."), make_quote("Grain too.", page=1))
    answer = asyncio.run(example("generator").BestQuote().answer(Query(text="grain"), context))
    gold = make_example("q", Reference(pages=(0,)), document="report.pdf")
    wrong = make_example("q", Reference(pages=(1,)), document="report.pdf")
    made, failed = Prediction(example="q", answer=answer), Prediction(example="q")
    silent = Prediction(example="q", answer=answer.model_copy(update={"text": "", "blocks": (), "citations": ()}))
    pairs = [(made, gold), (made, wrong), (failed, gold), (made, make_example("q")), (silent, gold)]
    metric = example("metric").CitedPages()
    assert check_metric(metric, pairs) == [0.5, 0.5]
    assert [metric.row(*pair).get("cited_pages.precision") for pair in pairs] == [1, 0, None, None, None]


def test_questions_are_read_from_csv(tmp_path: Path) -> None:
    load, path = example("dataset").load_csv, tmp_path / "q.csv"
    path.write_text("question,answer,document,page\nHow much?,9,a.pdf,3\n\nWhat?,,,\n")
    first, second = load(path)
    assert (first.document, first.reference) == ("a.pdf", Reference(answer="9", pages=(2,)))
    assert (second.query.text, second.document, second.reference) == ("What?", None, Reference())
    for row, said in ((",9,a.pdf,3", "there is no question"), ("What?,,a.pdf,0", "'0' is no page")):
        path.write_text(f"question,answer,document,page\n{row}\n")
        with pytest.raises(DatasetError, match=f"line 2: {said}"):
            load(path)


def test_a_reading_list_is_searched_without_a_model_and_by_an_agent(tmp_path: Path) -> None:
    lines = [
        '{"id": "a", "title": "Grain by ship", "abstract": "In May 4,210 tonnes of grain left.", "citations": 1}',
        '{"id": "b", "title": "Grain by rail", "published": {"year": 2019, "month": 5}, "citations": 7}',
        '{"id": "c", "title": "Of grain", "published": {"year": 2021}}',
    ]
    (tmp_path / "list.jsonl").write_text("\n".join(lines))
    source = example("source").ReadingList(tmp_path / "list.jsonl")
    found = asyncio.run(check_source(source, "grain by ship"))
    assert [paper.id for paper in found] == ["a", "b", "c"]
    sentence = "In May 4,210 tonnes of grain left the harbour."
    (claim,) = attribute_literature(sentence, source, papers=tmp_path / "papers")
    assert (claim.candidates[0].title, claim.candidates[0].read) == ("Grain by ship", "not_open_access")
    (own,) = attribute_literature(sentence, [source], papers=tmp_path / "papers", before="2020")
    assert [one.title for one in own.candidates] == ["Grain by rail"], "nothing without a date, or later"
    replies = [
        '{"rationale": "r", "action": {"name": "search_citation_count", "query": "grain"}}',
        '{"rationale": "r", "action": {"name": "select", "paper_id": "a"}}',
    ]
    with open_literature(source, papers=tmp_path / "papers") as literature:
        (chosen,) = attribute_by_agent(literature, sentence, FakeChat(replies))
    assert [one.title for one in chosen.candidates] == ["Grain by ship"]


def test_two_sources_have_two_names(tmp_path: Path) -> None:
    (tmp_path / "list.jsonl").write_text("")
    lists = [example("source").ReadingList(tmp_path / "list.jsonl") for _ in range(2)]
    with pytest.raises(UsageError, match="two sources of papers are called 'reading-list'"), open_literature(lists):
        pass
