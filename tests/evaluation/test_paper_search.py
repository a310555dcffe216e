"""Searches for papers are read from the authors' files, and scored by what they found and how they ended."""

import json
from pathlib import Path

import pytest

from quoteweave.core.examples import Example, NamedPaper, PaperSearch, Prediction, Reference, SearchStep
from quoteweave.core.records import Query
from quoteweave.evaluation import ScoringRequest, score
from quoteweave.evaluation.datasets.citeme import load_citeme_results, outcome_of_error
from quoteweave.evaluation.metrics.answers.paper_search import PaperSearches
from quoteweave.evaluation.metrics.answers.title_match import TitleMatch
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.scoring.saved_runs import ScoredRun

ARXIV = "https://arxiv.org/abs/1502.03167"
TABLE = (
    "id,excerpt,target_paper_title,target_paper_url,source_paper_title,source_paper_url,year,split,tags\n"
    f"1,Blur hurts [CITATION].,Deep Blur,{ARXIV},Ours,http://y,2023,train,Vision; Robustness\n"
    "2,People see [CITATION].,Seeing,http://x,Theirs,http://z,2024,test,Vision\n"
    "3,Nets learn [CITATION].,Learning,http://x,Theirs,http://z,2024,test,\n"
)


def asked(*titles: str, addresses: tuple[str, ...] = ()) -> Example:
    reference = Reference(short_answer=titles[0], alternatives=titles[1:], addresses=addresses)
    return Example(id="1", query=Query(text="x"), task="name_paper", reference=reference)


def searched(*titles: str, selected: NamedPaper | None = None) -> Prediction:
    shown = tuple(NamedPaper(title=title) for title in titles)
    steps = (SearchStep(action="search_relevance", papers=shown),)
    search = PaperSearch(outcome="selected" if selected else "no_selection", selected=selected, steps=steps)
    return Prediction(example="1", response=selected.title if selected else "", paper_search=search)


# Titles asked for, titles shown, the title selected, and what find_multi_match_psr (is not None) and find_match_psr of
# bethgelab/CiteME (src/utils/str_matcher.py at b96a8bb) gave for them. The ratio depends on the order of two titles.
RECORDED = [
    (["Deep Blur"], ["Deep Blurs", "Other"], "Deep Blurs", True, True),
    (["Tide", "Tide and Diet"], ["Diet"], "Diet", False, False),
    (["Scaling Laws II"], ["Scaling Laws I", "scaling laws"], "scaling laws", True, True),
    (["abcde"], ["abcdx"], "abcdx", False, False),
    (["Seeing"], [], "Seeing", False, True),
    (["robust a networks model"], ["robust a noise model"], "robust a noise model", False, True),
    (["robust a noise model"], ["robust a networks model"], "robust a networks model", True, False),
]


@pytest.mark.parametrize(("titles", "shown", "selected", "in_search", "correct"), RECORDED)
def test_titles_are_found_and_matched_as_the_authors_do(
    titles: list[str], shown: list[str], selected: str, in_search: bool, correct: bool
) -> None:
    example, prediction = asked(*titles), searched(*shown, selected=NamedPaper(title=selected))
    assert PaperSearches("published").row(prediction, example)["target_found"] == float(in_search)
    assert TitleMatch("published").row(prediction, example)["title_match"] == float(correct)


@pytest.mark.parametrize(
    ("identifiers", "matches"),
    [({"arxiv": "1502.03167v2"}, 1.0), ({"arxiv": "1502.99999"}, 0.0), ({"semantic_scholar": "a"}, None), ({}, None)],
)
def test_the_paper_selected_is_compared_by_its_identifiers(identifiers: dict[str, str], matches: float | None) -> None:
    prediction = searched("Other", selected=NamedPaper(title="Another Title", identifiers=identifiers))
    row = TitleMatch().row(prediction, asked("Deep Blur", addresses=("http://x", ARXIV)))
    assert (row["title_match"], row["identifier_match"]) == (0.0, matches)


def test_excerpts_without_a_paper_to_compare_are_no_mismatches_of_identifiers() -> None:
    example = asked("Deep Blur", addresses=(ARXIV,))
    failed = Prediction(example="1", response="", error="prose", paper_search=PaperSearch(outcome="bad_format"))
    for prediction in (searched("Other"), failed):
        row = TitleMatch("published").row(prediction, example)
        assert (row["title_match"], row["identifier_match"]) == (0.0, None)


def test_a_paper_counts_as_found_by_its_identifier_under_another_title() -> None:
    shown = NamedPaper(title="Batch Norm", identifiers={"arxiv": "1502.03167"})
    search = PaperSearch(outcome="no_selection", steps=(SearchStep(action="search_citation_count", papers=(shown,)),))
    row = PaperSearches().row(
        Prediction(example="1", response="", paper_search=search),
        asked("Batch Normalization at Length", addresses=(ARXIV,)),
    )
    assert (row["target_found"], row["target_found.exact"], row["no_selection"]) == (0.0, 1.0, 1.0)


def test_a_paper_that_was_read_alone_was_not_found_by_a_search() -> None:
    step = SearchStep(action="read", argument="a", papers=(NamedPaper(title="Deep Blur"),), problem="unreachable")
    prediction = Prediction(example="1", response="", paper_search=PaperSearch(outcome="no_selection", steps=(step,)))
    row = PaperSearches().row(prediction, asked("Deep Blur"))
    assert (row["target_found"], row["reads_failed"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("Max actions reached", "no_selection"),
        ("Failed to parse Output from completion {}", "bad_format"),
        ("Invalid json output: I think", "bad_format"),
        ('Failed to parse Output from completion {"reason": "It is on long context windows."}', "bad_format"),
        ("Invalid json output: The paper on content filters of an API", "bad_format"),
        ("The response was filtered due to the prompt triggering Azure's content management policy", "content_filter"),
        ("Output blocked by content filtering policy", "content_filter"),
        ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", "window"),
        ("prompt is too long: 215000 tokens > 199999 maximum", "window"),
        ("Error code: 529 - Overloaded", "endpoint"),
        ("Request timed out.", "endpoint"),
        ("Message: no such element: .result-page", "source"),
        ("'NoneType' object is not subscriptable", "other"),
    ],
)
def test_errors_of_the_authors_code_are_sorted_by_their_words(error: str, outcome: str) -> None:
    assert outcome_of_error(error) == outcome


# "guess" before a colon is cut off what a model says from memory, and no part is cut off the title of a paper found.
@pytest.mark.parametrize("convention", ["strict", "published"])
@pytest.mark.parametrize("title", ["Educated guess: a Study", "Based on Blur: Nets", "“Why?”", "Title: A Title"])
def test_the_title_of_a_paper_that_a_search_selected_is_compared_as_it_is(title: str, convention: Convention) -> None:
    prediction = searched(title, selected=NamedPaper(title=title))
    assert TitleMatch(convention).row(prediction, asked(title))["title_match"] == 1.0


def test_a_search_that_was_broken_off_before_its_first_step_found_nothing_by_published(results: Path) -> None:
    broken = {**RESULTS[2], "history": [user("excerpt")]}
    results.write_text(json.dumps({"metadata": {}, "results": [*RESULTS[:2], broken]}, indent=4))
    assert scored(results, convention="published").figures["target_found"].n == 3
    assert scored(results).figures["target_found"].n == 2


def action(name: str, reason: str, **argument: str) -> dict[str, str]:
    text = json.dumps({"reason": reason, "action": {"name": name, **argument}})
    return {"role": "assistant", "content": f"Here it is:\n{text}"}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


BLUR, SEEING = {"paperId": "b" * 40, "title": "Deep Blur"}, {"paperId": "c" * 40, "title": "Seeing"}
RESULTS: list[dict[str, object]] = [
    {
        "id": 1, "selected": BLUR, "is_correct": True, "is_in_search": 1, "error": None, "duration": 30.0,
        "tokens": {"input": 100, "output": 20}, "papers": [[], [SEEING, BLUR]],
        "history": [
            {"role": "system", "content": "rules"}, user("excerpt"),
            action("search_relevance", "first", query="blur"),
            user("No papers were found for the given search query. Please use a different query."),
            action("search_citation_count", "again", query="deep blur"), user("- Paper ID: b"),
            action("read", "look", paper_id="c" * 40), user("This paper does not have an open access PDF."),
            action("select", "it is", paper_id="b" * 40),
        ],
    },
    {
        "id": 2, "selected": None, "is_correct": False, "is_in_search": None, "error": "Max actions reached",
        "papers": [[SEEING]],
        "history": [user("excerpt"), action("search_relevance", "first", query="seeing"), user("- Paper ID: c"),
                    action("select", "it", paper_id="d"), user("Paper d not found in buffer: []. Please try")],
    },
    {
        "id": 3, "selected": None, "is_correct": False, "is_in_search": None, "error": "Invalid json output: Sure!",
        "papers": [], "history": [user("excerpt"), {"role": "assistant", "content": "Sure!"}],
    },
]  # fmt: skip


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "few-shot-search.json"
    path.write_text(json.dumps({"metadata": {"model": "gpt-4o"}, "results": RESULTS}, indent=4))
    return path


def scored(results: Path, **how: object) -> ScoredRun:
    table = results.with_name("DATASET.csv")
    table.write_text(TABLE)
    request = {"run": results, "dataset": "citeme", "references": table, **how}
    return score(ScoringRequest.model_validate(request), intervals=None)


def test_a_history_becomes_the_steps_of_a_search(results: Path) -> None:
    first, second, third = (prediction.paper_search for prediction in load_citeme_results(results))
    assert first is not None
    told = [(step.action, step.argument, step.problem, [paper.title for paper in step.papers]) for step in first.steps]
    assert told == [
        ("search_relevance", "blur", None, []),
        ("search_citation_count", "deep blur", None, ["Seeing", "Deep Blur"]),
        ("read", "c" * 40, "not_open_access", ["Seeing"]),
        ("select", "b" * 40, None, ["Deep Blur"]),
    ]
    assert first.selected == NamedPaper(title="Deep Blur", identifiers={"semantic_scholar": "b" * 40})
    assert first.steps[2].rationale == "look"
    assert second is not None
    assert (second.outcome, second.steps[-1].problem) == ("no_selection", "never_shown")
    assert third is not None
    assert (third.outcome, third.steps[0].action) == ("bad_format", "unreadable")


def test_technical_errors_are_apart_from_wrong_answers(results: Path) -> None:
    strict, published = (scored(results, convention=name) for name in ("strict", "published"))
    for name, by_strict, by_published in (
        ("technical_errors", (1 / 3, 3), (1 / 3, 3)),
        ("technical_errors.bad_format", (1 / 3, 3), (1 / 3, 3)),
        ("title_match", (0.5, 2), (1 / 3, 3)),
        ("no_selection", (0.5, 2), (1 / 3, 3)),
        ("target_found", (1.0, 2), (1 / 3, 3)),  # by published, as the file's own is_in_search
        ("actions", (3.0, 2), (7 / 3, 3)),
        ("reads_failed", (1.0, 1), (1.0, 1)),
    ):
        for run, expected in ((strict, by_strict), (published, by_published)):
            assert not {"exact_match", "bleu", "rouge_l.f1"} & run.figures.keys(), "of answers, not of titles"
            assert run.figures[name].value == pytest.approx(expected[0]), name
            assert run.figures[name].n == expected[1], name
    assert "1 excerpt without a paper selected (1 no_selection), counted as wrong" in strict.scores.notes
    assert "this file has 3 excerpts; published figures are of 119, and of which is not told" in strict.scores.notes
    assert not any("[1, 2]" in note for note in strict.scores.notes), "titles have no marks"


def test_figures_break_down_by_year_tag_and_actions(results: Path) -> None:
    found = scored(results, convention="published").scores.breakdowns
    sizes = {name: {group: of["title_match"].n for group, of in found[name].items()} for name in found}
    assert sizes["published_year"] == {"2024": 2, "before 2024": 1}
    assert sizes["year"] == {"2023": 1, "2024": 2}
    assert sizes["tag"] == {"Robustness": 1, "Vision": 2}
    assert sizes["actions"] == {"1": 1, "2": 1, "4": 1}
    crossed = scored(results, convention="published", by=("tag,actions",)).scores.breakdowns["tag,actions"]
    assert crossed["Vision × 2"]["title_match"].value == 0.0


def test_numbers_of_actions_stand_in_their_order(results: Path) -> None:
    many = [action("search_relevance", "", query=str(n)) for n in range(12)]
    longest = {**RESULTS[1], "history": many, "papers": [[]] * 12}
    results.write_text(json.dumps({"metadata": {}, "results": [RESULTS[0], longest, RESULTS[2]]}, indent=4))
    assert list(scored(results, convention="published").scores.breakdowns["actions"]) == ["1", "4", "12"]


@pytest.mark.parametrize(("told", "found"), [(7, 1.0), (None, 0.0)])
def test_a_file_without_papers_says_itself_whether_the_paper_was_found(
    results: Path, told: int | None, found: float
) -> None:
    bare = [{"id": n, "selected": BLUR, "is_correct": True, "is_in_search": told, "error": None} for n in (1, 2, 3)]
    results.write_text(json.dumps({"metadata": {}, "results": bare}, indent=4))
    figures = scored(results).figures
    assert (figures["target_found"].value, "target_found.exact" in figures) == (found, False)


def test_searches_survive_being_written_and_read() -> None:
    prediction = searched("Deep Blur", selected=NamedPaper(title="Deep Blur", identifiers={"arxiv": "1502.03167"}))
    assert Prediction.model_validate_json(prediction.model_dump_json()) == prediction
    assert Prediction.model_validate_json('{"example": "1"}').paper_search is None
