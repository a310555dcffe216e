"""What judges write is read however carelessly it was written, and what is no judgement is refused with a complaint."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.evaluation.judges.answer_judges import SCALE
from quoteweave.evaluation.judges.chat import UnreadableReply, read_scores
from quoteweave.evaluation.judges.judgements import ASPECTS

FIELDS = dict.fromkeys(ASPECTS, SCALE)
WHOLE = {
    "fluency": 5.0,
    "citation_quality": 4.0,
    "text_image_coherence": 3.0,
    "reasoning_logic": 0.0,
    "factuality": 1.0,
}
QUOTES = st.sampled_from(['"', "'", "", "“", "”", "‘", "`", '\\"', "**"])
SPACE = st.sampled_from(["", " ", "\n", "\t", "  ", "\u00a0"])
BEFORE = st.sampled_from(
    [
        "",
        "Here it is:\n```json\n",
        "The claim {x} is odd. fluency: 2\n",
        "<think>{'fluency': 0}</think>",
        "\ufeff",
        "{",
        "}",
    ]
)
AFTER = st.sampled_from(["", "\n```", "\nHope this helps {smiling}!", "}", " {", "\n{}"])


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """The JSON object of WHOLE as a careless judge would write it."""
    pairs = []
    for name, score in draw(st.permutations(list(WHOLE.items()))):
        words = draw(st.sampled_from([name, name.replace("_", " "), name.replace("_", "-"), ASPECTS[name]]))
        words = draw(st.sampled_from([words, words.upper(), words.title(), words.capitalize()]))
        number = draw(st.sampled_from([f"{score:.0f}", f"{score}", f"{score:.0f}/5", f"{score:.0f}."]))
        left, right, around = draw(QUOTES), draw(QUOTES), draw(QUOTES)
        shown = f"{left}{draw(SPACE)}{words}{draw(SPACE)}{right}{draw(SPACE)}:{draw(SPACE)}{around}{number}{around}"
        pairs.append(f"{draw(SPACE)}{shown}{draw(SPACE)}")
    end = draw(st.sampled_from(["", ",", " ,\n", ', "comment": "good"']))
    return f"{draw(BEFORE)}{{{','.join(pairs)}{end}}}{draw(AFTER)}"


@given(damaged())
def test_damaged_json_is_read_as_it_was_meant(reply: str) -> None:
    assert read_scores(reply, FIELDS) == WHOLE


@given(st.permutations(list(WHOLE.items())), st.booleans())
def test_json_in_any_order_and_layout(pairs: list[tuple[str, float]], wide: bool) -> None:
    nested = {"scores": dict(pairs), "why": "short"}
    assert read_scores(json.dumps(dict(pairs), indent=2 if wide else None), FIELDS) == WHOLE
    assert read_scores(json.dumps(nested), FIELDS) == WHOLE


@given(st.text(alphabet='{}":,. \\n059abflueny_citatonqualy-', max_size=400))
def test_anything_else_is_refused_and_never_breaks(reply: str) -> None:
    with pytest.raises(UnreadableReply):
        read_scores(reply, FIELDS)


def test_the_last_object_counts() -> None:
    first = json.dumps(dict.fromkeys(WHOLE, 1))
    assert read_scores(f"At first I thought {first}, but: {json.dumps(WHOLE)}", FIELDS) == WHOLE


def written(**changed: object) -> str:
    return json.dumps({name: score for name, score in {**WHOLE, **changed}.items() if score is not None})


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("The answer reads well; I would give it four out of five.", "no whole JSON object"),
        ("Fluency: 4\nFactuality: 3", "no whole JSON object"),
        ("", "no whole JSON object"),
        (written()[:-20], "no whole JSON object"),
        (f"<think>{written()}", "no whole JSON object"),
        (written(factuality=None), "factuality is missing"),
        (written(factuality=6), "factuality is 6"),
        (written(factuality=-1), "factuality is -1"),
        (written(factuality=3.5), "factuality is 3.5"),
        (written(factuality="five"), "factuality is five"),
        (written(factuality=True), "factuality is true"),
        (written(factuality="N"), "factuality is N, which is not one of 0, 1, 2, 3, 4, 5"),
        (written()[:-1] + ', "Fluency": 2}', "fluency is given more than once"),
    ],
)
def test_what_gives_no_scores_is_complained_of(reply: str, complaint: str) -> None:
    with pytest.raises(UnreadableReply, match=complaint):
        read_scores(reply, FIELDS)


@pytest.mark.parametrize("piece", ["{", "a ", '"', "fluency:", "{fluency: ", "}", "1", "{a:1,", "\\"])
def test_long_replies_take_linear_time(piece: str) -> None:
    # Parsing in time quadratic in the length would take minutes.
    with pytest.raises(UnreadableReply):
        read_scores(piece * 200_000, FIELDS)


def test_any_scale_can_be_asked_for() -> None:
    assert read_scores('{"Support": "0.5"}', {"support": (0, 0.5, 1)}) == {"support": 0.5}
    with pytest.raises(UnreadableReply, match=r"not one of 0, 0\.5, 1"):
        read_scores('{"support": 0.7}', {"support": (0, 0.5, 1)})
