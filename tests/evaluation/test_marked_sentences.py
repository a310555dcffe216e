"""Sentences and the places of their citations."""

from hypothesis import given
from hypothesis import strategies as st
from made_selection import answered

from quoteweave.core.text.marks import parse_marks
from quoteweave.evaluation.text.claims import Item, MarkedSentence, marked_sentences


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def read(response: str) -> list[MarkedSentence]:
    return marked_sentences(answered(response), lines)


def test_what_a_sentence_says_and_where_it_cites() -> None:
    (sentence,) = read("Cups can be of glass [1][2] or plastic [3, 4] .")
    assert sentence.text == "Cups can be of glass or plastic."
    assert [mark.cited for mark in sentence.marks] == [(("text", 1),), (("text", 2),), (("text", 3), ("text", 4))]
    assert [sentence.marked[mark.start] for mark in sentence.marks] == ["[", "[", "["]
    letters = sentence.text.replace(" ", "")
    assert [letters[: mark.before] for mark in sentence.marks] == [
        "Cupscanbeofglass",
        "Cupscanbeofglass",
        "Cupscanbeofglassorplastic",
    ]


def test_what_it_cites_comes_once() -> None:
    assert read("A [2] b [1] c [2, 1] d ![e](image2).")[0].cited == (("text", 2), ("text", 1), ("image", 2))


def test_words_of_an_image_mark_stay_and_words_around_a_mark_stay_apart() -> None:
    (sentence,) = read("See ![sales by year](image1), glass[1]or (plastic[2]).")
    assert sentence.text == "See sales by year, glass or (plastic)."
    assert [mark.before for mark in sentence.marks] == [len("Seesalesbyyear"), 20, 30]


def test_opening_marks_end_the_sentence_before() -> None:
    first, second = read("Of glass [1] or wood.\n[2] [3]. They break [4].")
    assert (first.marked, second.marked) == ("Of glass [1] or wood.[2] [3]", "They break [4].")
    assert first.cited == (("text", 1), ("text", 2), ("text", 3))
    assert [sentence.marked for sentence in read("Wood.\n[1]")] == ["Wood.[1]"]


def test_marks_with_nothing_before_them_stay() -> None:
    (sentence,) = read("[1] Wood.")
    assert (sentence.text, sentence.marks[0].before) == ("Wood.", 0)


def test_nothing_said() -> None:
    assert read("") == read("<think>Wood [1].") == marked_sentences(answered(None), lines) == []


@given(st.text("[]1,- a.\n(![x](image2)", max_size=40))
def test_no_mark_is_lost_and_places_are_of_the_text(response: str) -> None:
    sentences = read(response)
    found: list[Item] = [item for one in sentences for mark in one.marks for item in mark.cited]
    assert found == [(mark.kind, n) for line in lines(response) for mark in parse_marks(line) for n in mark.numbers]
    for sentence in sentences:
        letters = len("".join(sentence.text.split()))
        befores = [mark.before for mark in sentence.marks]
        assert befores == sorted(befores)
        assert all(before <= letters for before in befores)
