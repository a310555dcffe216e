"""Numbers of things are printed in the right grammatical form."""

from quoteweave.core.messages import join_names, pluralize


def test_one_is_told_in_the_singular_and_all_else_in_the_plural() -> None:
    assert [pluralize(number, "page") for number in (0, 1, 2, 1234)] == ["0 pages", "1 page", "2 pages", "1234 pages"]
    assert [pluralize(number, "index", "indexes") for number in (1, 2)] == ["1 index", "2 indexes"]


def test_a_long_list_is_cut_and_the_rest_counted() -> None:
    assert join_names(["a", "b"]) == "a, b"
    assert join_names(["a", "b", "c", "d"], 3) == "a, b, c and 1 more"
