"""The gate over whole answers, and its policies, by hand and by property."""

import asyncio
from collections.abc import Sequence

import pytest
from builders import make_context, make_quote
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_gate_answers import built, verdicts

from quoteweave.core.answers import Answer, Citation, Context, ImageBlock, TextBlock
from quoteweave.core.errors import BudgetSpent, EndpointUnreachable, ModelFailed, ModelNotFound
from quoteweave.core.protocols import ClaimChecker
from quoteweave.core.text.marks import parse_marks
from quoteweave.generation.citations import build_answer
from quoteweave.generation.gate.answer_check import CITES_NOTHING, MAX_WARNINGS, check_citations, check_with_model
from quoteweave.generation.gate.claims import claims_of
from quoteweave.generation.gate.policies import REFUSAL, apply_policy

CONTEXT = make_context(
    "The port received 1,058 vessel calls.",
    "Grain came to 547 thousand tonnes.",
    make_quote("Fish | 121\nTimber | 296", layout="table", caption="Cargo"),
)
GOOD, BAD = "The port received 1,058 vessel calls [1].", "Grain came to 557 thousand tonnes [2]."


def checked(text: str) -> Answer:
    return check_citations(built(text, CONTEXT), CONTEXT)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("It rose [1]. It fell [2].", ["It rose [1].", "It fell [2]."]),
        ("It rose. [1] It fell. [2]", ["It rose. [1]", "It fell. [2]"]),
        ("It rose.[1][2] It fell", ["It rose.[1][2]", "It fell"]),
        ("[1] It rose.", ["[1] It rose."]),
        ("It rose.\n[2] It fell.", ["It rose.", "[2] It fell."]),
        ("It rose.\n\n![A map. Of all.](image1)\n\nIt fell.", ["It rose.", "![A map. Of all.](image1)", "It fell."]),
        ("It rose ![a map](image1) and fell.", ["It rose ![a map](image1) and fell."]),
        ("- It rose [1]\n- It fell [2]", ["- It rose [1]", "- It fell [2]"]),
        ("It rose.\n\n[1]", ["It rose.\n\n[1]"]),
    ],
)
def test_marks_belong_to_sentences(text: str, claims: list[str]) -> None:
    assert [text[claim.start : claim.end] for claim in claims_of(text)] == claims


def test_each_citation_of_answer_and_blocks_has_its_verdict() -> None:
    answer = checked(f"{GOOD} {BAD}\n\n![Fish came to 121](image1)")
    assert verdicts(answer) == ["supported", "unsupported", "supported"]
    text, image = answer.blocks
    assert isinstance(text, TextBlock)
    assert isinstance(image, ImageBlock)
    assert (*text.citations, image.citation) == answer.citations


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("1. The port received 1,058 vessel calls [1].\n2. Grain came to 547 thousand tonnes [2].", ["supported"] * 2),
        ("- **3.** Grain came to 547 thousand tonnes [2]", ["supported"]),
        ("```\nx = a[17]\n```\nGrain came to 547 thousand tonnes [2].", ["supported"]),
        ("3. Mai 2020: Grain came to 547 thousand tonnes [2].", ["unsupported"]),
    ],
)
def test_numbers_of_items_and_fenced_code_state_nothing(text: str, outcomes: list[str]) -> None:
    assert verdicts(checked(text)) == outcomes


def test_factual_sentences_without_citation_are_warned_of() -> None:
    answer = checked(f"In short:\n\n{GOOD} Timber came to 296 thousand tonnes. That is much. Is it 5?")
    assert answer.warnings == ("Nothing is cited for “Timber came to 296 thousand tonnes.”.",)


def test_a_table_without_citation_is_warned_of_by_its_cells() -> None:
    answer = checked(f"{GOOD}\n\n| Season | 2027 |\n|:---|---:|\n| Spring | 296 |")
    assert answer.warnings == ("Nothing is cited for “Season 2027 Spring 296”.",)


def test_checking_again_changes_nothing() -> None:
    answer = checked(f"{GOOD} {BAD} Timber came to 296 thousand tonnes.")
    assert check_citations(answer, CONTEXT) == answer


def test_an_abstained_answer_is_not_warned_of() -> None:
    answer = build_answer("q", "The 12 quotes do not say.", CONTEXT, model="m", status="abstained")
    assert check_citations(answer, CONTEXT) == answer


def test_warnings_of_an_answer_that_never_cites_are_bounded() -> None:
    answer = checked(
        " ".join(f"There were {number} ships in all." for number in range(100, 200)) + " Loop 9 is it." * 50
    )
    assert len(answer.warnings) == MAX_WARNINGS + 1
    assert answer.warnings[-1] == "…and 91 more of this sort."


def test_report_shows_the_answer_as_it_is() -> None:
    answer = checked(f"{GOOD} {BAD}")
    assert apply_policy(answer, "report") == answer


@pytest.mark.parametrize("policy", ["report", "drop", "refuse"])
def test_nothing_is_done_where_nothing_is_unsupported(policy: str) -> None:
    answer = checked(GOOD)
    assert apply_policy(answer, policy) == answer  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{GOOD} {BAD}", GOOD),
        (f"{BAD} {GOOD}", GOOD),
        (f"{GOOD} {BAD} {GOOD}", f"{GOOD} {GOOD}"),
        (f"{GOOD}\n\n{BAD}\n\n{GOOD}", f"{GOOD}\n\n{GOOD}"),
        (f"{GOOD} {BAD}\n\n{BAD} {GOOD}", f"{GOOD}\n\n{GOOD}"),
        (f"- {GOOD}\n- {BAD}\n- {GOOD}", f"- {GOOD}\n- {GOOD}"),
        (f"{GOOD}\n\n![Fish came to 127](image1)\n\n{GOOD}", f"{GOOD}\n\n{GOOD}"),
        (f"{BAD} {GOOD} ![Fish came to 121](image1)", f"{GOOD} ![Fish came to 121](image1)"),
    ],
)
def test_drop_takes_sentences_out(text: str, left: str) -> None:
    before = checked(text)
    answer = apply_policy(before, "drop")
    assert (answer.text, answer.raw, answer.status) == (left, text, "answered")
    assert set(verdicts(answer)) == {"supported"}
    again = check_citations(built(left, CONTEXT), CONTEXT)
    assert (answer.blocks, answer.citations) == (again.blocks, again.citations)


def test_drop_says_what_was_taken_out_and_why() -> None:
    (warning,) = apply_policy(checked(f"{GOOD} {BAD}"), "drop").warnings
    assert (
        warning
        == "Taken out: “Grain came to 557 thousand tonnes.” 557 thousand tonnes does not occur in what it cites."
    )


def test_refuse_and_a_drop_that_leaves_nothing_cited_abstain() -> None:
    for answer in (
        apply_policy(checked(f"{GOOD} {BAD}"), "refuse"),
        apply_policy(checked(f"Two things: {BAD}"), "drop"),
    ):
        assert (answer.text, answer.status, answer.citations) == (REFUSAL, "abstained", ())
        assert answer.warnings[-1].startswith("Withheld: “")
        assert answer.raw is not None
        assert BAD in answer.raw


def test_raw_keeps_the_marks_that_were_removed_before() -> None:
    answer = apply_policy(checked(f"{GOOD} {BAD} It was 3 [9]."), "drop")
    assert answer.raw == f"{GOOD} {BAD} It was 3 [9]."
    assert [answer.raw[mark.start : mark.end] for mark in answer.unresolved] == ["[9]"]


def test_answers_saved_without_verdicts_are_read() -> None:
    fields = {"verdict", "reason", "checker_verdict"}
    (citation,) = built(GOOD, CONTEXT).citations
    assert Citation.model_validate_json(citation.model_dump_json(exclude=fields)) == citation


class Containing:
    """Finds supported what shares its first word; says nothing of timber."""

    name = "containing"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        self.asked += pairs
        return [None if "timber" in claim else claim.split()[0] in premise for premise, claim in pairs]


class Failing:
    """Fails so."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def check(self, pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
        raise self.error


def opined(text: str, checker: ClaimChecker, context: Context = CONTEXT) -> Answer:
    return asyncio.run(check_with_model(check_citations(built(text, context), context), context, checker))


def test_a_checker_says_its_own_beside_the_gate() -> None:
    model = Containing()
    answer = opined(f"{GOOD} Ships came [2]. It is so.", model)
    assert [(citation.verdict, citation.checker_verdict) for citation in answer.citations] == [
        ("supported", True),
        ("unchecked", False),
    ]
    assert model.asked == [
        ("The port received 1,058 vessel calls.", "The port received 1,058 vessel calls."),
        ("Grain came to 547 thousand tonnes.", "Ships came."),
    ]


def test_warnings_say_how_much_a_checker_does_not_find_supported() -> None:
    answer = opined(f"{GOOD} {GOOD} Ships came [2]. Some timber came [2]. It is so.", Containing())
    assert [citation.checker_verdict for citation in answer.citations] == [True, True, False, None]
    assert answer.warnings == (
        "The checker does not find 1 of 3 cited sentences supported by what is cited.",
        "The checker could not say whether 1 of 3 cited sentences is supported.",
    )


def test_blocks_hold_what_the_checker_says() -> None:
    answer = opined(f"{GOOD}\n\n![Ships came](image1)", Containing())
    text, image = answer.blocks
    assert isinstance(text, TextBlock)
    assert isinstance(image, ImageBlock)
    assert (*text.citations, image.citation) == answer.citations
    assert [citation.checker_verdict for citation in answer.citations] == [True, False]


def test_a_checker_is_not_asked_of_images_without_words() -> None:
    model = Containing()
    answer = opined("It shows ships ![ships](image1).", model, make_context(make_quote(layout="figure")))
    assert (answer.citations[0].checker_verdict, answer.warnings, model.asked) == (None, (), [])


@pytest.mark.parametrize("error", [EndpointUnreachable("nobody there"), ModelFailed("nobody there")])
def test_a_checker_that_fails_costs_no_answer(error: Exception) -> None:
    answer = opined(GOOD, Failing(error))
    assert (answer.text, verdicts(answer), answer.citations[0].checker_verdict) == (GOOD, ["supported"], None)
    assert answer.warnings == ("The checker gave no verdict: nobody there",)


def test_what_concerns_all_answers_is_raised() -> None:
    with pytest.raises(ModelNotFound):
        opined(GOOD, Failing(ModelNotFound("no weights")))


def test_a_budget_that_is_spent_does_not_cost_the_answer() -> None:
    answer = opined(GOOD, Failing(BudgetSpent("all spent")))
    assert answer.warnings == ("The checker gave no verdict: all spent",)


_PIECES = st.sampled_from(
    [GOOD, BAD, "[1]", "[2, 1]", "![Fish came to 127](image1)", "![It. Is](image1)", " ", "\n", "\n\n", "- ", "`", "``",
     "```\n", "!", "[", "](", "It was 12.4 %", "Then. ", "[9]", "\0", "“so”", "1. "]
)  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=5), max_size=14).map("".join))
@example(f"\r```\n{GOOD}")
@example(f"     ```\n```\n{GOOD}")
@settings(max_examples=100)
def test_any_text_keeps_its_words_under_report_and_its_spans_after_drop(text: str) -> None:
    plain = built(text, CONTEXT)
    answer = check_citations(plain, CONTEXT)
    assert (answer.text, len(answer.citations)) == (plain.text, len(plain.citations))
    assert None not in verdicts(answer)
    shown = apply_policy(answer, "drop")
    Answer.model_validate(shown.model_dump())
    assert "unsupported" not in verdicts(shown)
    named = [(m.start, m.kind, number) for m in parse_marks(shown.text) for number in m.numbers]
    numbered = [one for one in named if CONTEXT.quote(*one[1:]) is not None]
    assert [(citation.start, citation.kind, citation.number) for citation in shown.citations] == numbered
    covered = "".join(
        shown.text[b.citation.start : b.citation.end] if isinstance(b, ImageBlock) else b.text for b in shown.blocks
    )
    assert "".join(covered.split()) == "".join(shown.text.split())


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("I do not know; the documents do not say.", True),
        ("Sorry, nothing is known of this.", True),
        ("The documents do not say [1].", False),
        (GOOD, False),
        (f"I know this. {GOOD}", False),
        ("Grain came to 557 thousand tonnes.", False),  # this sentence is told itself
    ],
)
def test_an_answer_that_cites_nothing_is_told(text: str, is_told: bool) -> None:
    assert (CITES_NOTHING in checked(text).warnings) == is_told
