"""Sentences in which two words or numbers of their evidence are exchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.generation.gate.contraries.exchanged_words import find_exchange
from quoteweave.generation.gate.contraries.lengths import MAX_STATED

EXCHANGED = [
    ("Stroke reduced the risk of aspirin.", "Aspirin reduced the risk of stroke by 12% in women.", "Stroke", "aspirin"),
    ("The man bit the dog.", "The dog bit the man.", "man", "dog"),
    ("B42 is faster than A17.", "A17 is faster than B42.", "B42", "A17"),
    ("Los Angeles beat New York in May.", "New York beat Los Angeles in May.", "Los Angeles", "New York"),
    ("South Africa exports gold to Kenya.", "Kenya exports gold to South Africa.", "South Africa", "Kenya"),
    ("The train from Paris to Berlin left.", "The train from Berlin to Paris left.", "Paris", "Berlin"),
    ("The share fell from 48% to 61% in May.", "In May, the share fell from 61 percent to 48 percent.", "48", "61"),
    ("More in April 2021 than in May.", "More in May 2021 than in April.", "April", "May"),
    ("Ghana sells tea and Kenya sells cocoa.", "Kenya sells tea and Ghana sells cocoa.", "Ghana", "Kenya"),
    ("It rose by 7% in Japan and 5% in China.", "It rose by 5% in Japan and 7% in China.", "7", "5"),
    ("Prices fell in Asia from 48 to 61.", "Prices in Asia fell from 61 to 48.", "48", "61"),
    ("Return tickets cost 29 francs, one way 48.", "Return tickets cost 48 francs, one way is 29.", "29", "48"),
    ("It won 15 cups and 12 medals.", "It won 12 cups and 15 medals.", "15", "12"),
    ("Recall and speed were 9 and 8, respectively.", "Recall and speed were 8 and 9, respectively.", "9", "8"),
    ("Group A had 30 and group B 20.", "Group B had 30 and group A 20.", "A", "B"),
    ("Tea rose, coffee fell.", "Tea fell, coffee rose.", "rose", "fell"),
    ("Take it before lunch and after tea.", "Take it after lunch and before tea.", "before", "after"),
    ("It was above cost in May, below in June.", "It was below cost in May and above in June.", "above", "below"),
]


@pytest.mark.parametrize(("sentence", "evidence", "first", "second"), EXCHANGED)
def test_what_stands_in_another_ones_place_is_exchanged(sentence: str, evidence: str, first: str, second: str) -> None:
    found = find_exchange(sentence, evidence)
    assert found is not None
    assert (found.first, found.second) == (first, second)


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("The risk of stroke was reduced by aspirin.", "Aspirin reduced the risk of stroke."),
        ("The risk was reduced by aspirin.", "Aspirin reduced the risk."),
        ("B42 is slower than A17.", "A17 is faster than B42."),
        ("It ships coal, timber and grain.", "It ships grain, timber and coal."),
        ("The plates are 5 x 3 cm.", "The plates are 3 x 5 cm."),
        ("The grid is 5 by 3 metres.", "The grid is 3 by 5 metres."),
        ("Of the 200 patients 50 died.", "50 patients of the 200 died."),
        ("Scores ranged from 9 down to 3.", "Scores ranged from 3 up to 9."),
        ("The capital of France is Paris.", "Paris is the capital of France."),
        ("In May the harbour shipped grain.", "The harbour shipped grain in May."),
        ("Sales fell in 2019 in Finland.", "Sales fell in Finland in 2019."),
        ("Sales fell by 5% in 2019.", "In 2019 sales fell by 5%."),
        ("Ghana sells cocoa and Kenya sells tea.", "Kenya sells tea and Ghana sells cocoa."),
        ("It rose by 7% in China and 5% in Japan.", "It rose by 5% in Japan and 7% in China."),
        ("Oslo had 12, Bergen 9 and Narvik 15 ships.", "Narvik had 15 ships, Bergen 9 and Oslo 12."),
        ("Cocoa from Ghana and tea from Kenya came.", "Tea from Kenya and cocoa from Ghana came."),
        ("In 2019, 5 ships sank; in 2020, 7 ships sank.", "7 ships sank in 2020; 5 ships sank in 2019."),
        ("In 2020, 7%, and in 2019, 5%, voted.", "5% voted in 2019 and 7% in 2020."),
        ("Coffee rose while tea fell.", "While tea fell, coffee rose."),
        ("The growth rate of sales.", "The rate of growth of sales."),
        ("Take it after tea and before lunch.", "Take it before lunch and after tea."),
        ("Before lunch, take it; after tea, rest.", "Rest after tea and take it before lunch."),
        ("It rose over time under both.", "Under both it rose over time."),
        ("Above it is the castle, below it the mill.", "The inn stands above the mill and below the castle."),
        ("The inn, after which is tea, before which lunch, shut.", "The inn shut after lunch and before tea."),
        ("Den Hund jagt die Katze.", "Die Katze jagt den Hund."),
    ],
)
def test_another_order_that_says_the_same_is_no_exchange(sentence: str, evidence: str) -> None:
    assert find_exchange(sentence, evidence) is None


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("It was 7 in China compared with 5 in Japan.", "It was 5 in Japan compared with 7 in China."),
        ("The ratio of women to men was 3 to 2.", "The ratio of men to women was 2 to 3."),
        ("Recall and speed were 8 and 9, respectively.", "Speed and recall were 9 and 8, respectively."),
    ],
)
def test_numbers_that_moved_with_what_they_belong_to_are_not_exchanged(sentence: str, evidence: str) -> None:
    found = find_exchange(sentence, evidence)
    assert found is None or not found.is_of_numbers


WORDS = ["the", "of", "from", "to", "and", ",", "3", "5", "Kenya", "Ghana", "sells", "tea", "cocoa", "by", "in", "2019"]


@given(st.lists(st.sampled_from(WORDS), max_size=30))
def test_no_sentence_has_exchanges_with_itself(text: list[str]) -> None:
    assert find_exchange(" ".join(text), " ".join(text)) is None


def test_a_text_too_long_for_a_sentence_is_not_looked_at() -> None:
    tail = " ".join(f"w{at}" for at in range(MAX_STATED))
    assert find_exchange(f"B42 is faster than A17 {tail}", f"A17 is faster than B42 {tail}") is None
