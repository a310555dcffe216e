"""Synonyms of the words of a question that the documents do not have."""

import subprocess
import sys

from quoteweave.core.text.synonyms import synonyms_for

KNOWN = {"motor", "adult", "custom", "meal"}


def test_an_unknown_word_is_replaced_by_a_known_synonym_and_a_known_word_never() -> None:
    assert synonyms_for("Is the engine loud?", KNOWN.__contains__) == {"engine": ("motor",)}
    assert synonyms_for("Is the engine loud?", (KNOWN | {"engin"}).__contains__) == {}


def test_a_compound_is_looked_up_as_one_word() -> None:
    assert synonyms_for("What do grown-ups pay?", KNOWN.__contains__) == {"grown-ups": ("adult",)}


def test_names_and_other_languages_have_no_synonyms() -> None:
    assert synonyms_for("Who met Lunch in 1982?", KNOWN.__contains__) == {}
    assert synonyms_for("Wann gibt es in der Kantine lunch?", KNOWN.__contains__) == {}
    assert synonyms_for("When is lunch?", KNOWN.__contains__) == {"lunch": ("meal",)}


def test_the_list_is_not_read_for_a_question_whose_words_are_known() -> None:
    program = (
        "import gzip; gzip.decompress = None\n"
        "from quoteweave.core.text.synonyms import synonyms_for\n"
        "print(synonyms_for('How many vessels called at the port?', lambda stem: True))\n"
        "try: synonyms_for('How many vessels called?', lambda stem: False)\n"
        "except TypeError: print('read')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["{}", "read"]
