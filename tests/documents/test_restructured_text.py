"""reStructuredText is read as plain text, without its marks."""

from pathlib import Path

import pytest

from quoteweave.documents.reflow.restructured_text import LEFT_OUT, RAW_LEFT_OUT, parse_restructured_text

TEXT = """.. _port:

Port of Merrow
^^^^^^^^^^^^^^

The ``crane`` is *old*, see :ref:`the quay <quay>` and `the map
<https://merrow.example>`_.  Open it::

    port-open --now

.. note:: It floods.
   :class: wide

   Stay away.

.. image:: port.png
   :alt: A port

.. A comment
   on two lines

:Built: 1957
:Length: 3 km

======  ====
Pier    Year
======  ====
East    1960
======  ====
"""


def test_marks_are_left_out_and_what_they_show_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "port.rst"
    path.write_text(TEXT, "utf-8")
    parsed = parse_restructured_text(path)
    assert [(quote.layout, quote.text) for quote in parsed.quotes] == [
        ("title", "Port of Merrow"),
        (
            "paragraph",
            "The crane is old, see the quay and the map (https://merrow.example).  Open it:",
        ),
        ("paragraph", "    port-open --now"),
        ("paragraph", "It floods."),
        ("paragraph", "   Stay away."),
        ("paragraph", "Built: 1957\nLength: 3 km"),
        ("table", "Pier | Year\nEast | 1960"),
    ]
    assert parsed.warnings == (LEFT_OUT,)


def read(folder: Path, text: str) -> tuple[str, tuple[str, ...]]:
    path = folder / "port.rst"
    path.write_text(text, "utf-8")
    parsed = parse_restructured_text(path)
    return "\n\n".join(quote.text or "" for quote in parsed.quotes), parsed.warnings


@pytest.mark.parametrize(
    "text",
    [
        "There are 2**10 quays, and x**2 + y**2 of them float.",
        "All of *.py and *.txt is loaded.",
        "Call f(**a) and g(**b) of it.",
        'Write "*" or "*" for any.',
        "It is `` `` or ` ` here.",
    ],
)
def test_what_only_looks_like_a_mark_stays(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == (text, ())


def test_marks_stand_beside_punctuation(tmp_path: Path) -> None:
    text = "See (*old*), „**new**“-``crane``: `~quay`_; `map <https://merrow.example>`__!"
    assert read(tmp_path, text)[0] == "See (old), „new“-crane: quay; map (https://merrow.example)!"


def test_markup_in_columns_does_not_move_those_to_the_right(tmp_path: Path) -> None:
    rows = ("===========  ====  ==", "*a* ``b``    [1]_  c", "d\\_e :f:`g`  *h*   i", "===========  ====  ==")
    assert read(tmp_path, "\n".join((rows[0], "Name         Note  No", *rows)))[0] == (
        "Name | Note | No\na b | [1] | c\nd_e g | h | i"
    )


def test_directives_and_lines_that_end_with_backslashes_stay_apart(tmp_path: Path) -> None:
    text = ".. class:: A\n   :final:\n.. class:: B\n\n   run \\\n     --it"
    assert read(tmp_path, text)[0] == "A\n\nB\n\n   run \\\n     --it"


def test_roles_notes_and_escapes(tmp_path: Path) -> None:
    text = "2\\ :sup:`n`, H\\ :sub:`2`\\ O and 1\\ :sup:`st` of it [1]_ and [Row57]_: \\*no mark\\*, ``a\\ b``"
    assert read(tmp_path, text)[0] == "2ⁿ, H₂O and 1st of it [1] and [Row57]: *no mark*, a\\ b"


def test_nothing_is_a_mark_in_a_literal_block(tmp_path: Path) -> None:
    text = (
        "- Open *it*::\n\n      a `b` *c*\n      .. note:: d\n\n  Then *go*.\n\n"
        ".. code-block:: sh\n   :linenos:\n\n   a `b` *c*\n\n*End* of it.\n"
    )
    said = "- Open it:\n\n      a `b` *c*\n      .. note:: d\n\n  Then go.\n\n   a `b` *c*\n\nEnd of it."
    assert read(tmp_path, text) == (said, ())


@pytest.mark.parametrize(
    ("text", "said", "warnings"),
    [
        (".. figure:: a.png\n   :alt: A\n\n   The *quay*.\n\n   Seen\n", "   The quay.\n\n   Seen", (LEFT_OUT,)),
        ('.. csv-table:: Ships\n   :header: "A", "B"\n\n   "May,\n   *old*", 3\n', "Ships\n\nA | B\nMay, old | 3", ()),
        (".. csv-table::\n   :delim: ;\n\n   A;B\n   May;3,5\n\nJune\n", "A | B\nMay | 3,5\n\nJune", ()),
        (
            ".. list-table:: Ships\n   :header-rows: 1\n\n   * - A\n     - B\n   * - May is\n       ``old|new``\n"
            "     -\n   * - .. image:: a.png\n     - - It\n       - floats\n",
            "Ships\n\nA | B\nMay is old¦new | \n | - It - floats",
            (LEFT_OUT,),
        ),
        (".. list-table::\n\n   No *rows*.\n", "   No rows.", ()),
        (".. csv-table::\n\n   May, 3, 4, 5, 6\n   June\n   July\n", "   May, 3, 4, 5, 6\n   June\n   July", ()),
        (".. csv-table:: Ships\n   :file: a.csv\n\n   May, 3\n", "Ships", (LEFT_OUT,)),
        (".. raw:: html\n\n   <b>May</b>\n\nJune\n", "June", (RAW_LEFT_OUT,)),
        ("..\n\n   All ships float.\n", "   All ships float.", ()),
        (".. a comment\n\n   on\n\nJune\n", "June", ()),
        ("::\n\n   .. image:: a.png\n", "   .. image:: a.png", ()),
    ],
)
def test_text_of_the_file_itself_is_kept_and_what_is_not_is_told(
    tmp_path: Path, text: str, said: str, warnings: tuple[str, ...]
) -> None:
    assert read(tmp_path, text) == (said, warnings)


def test_the_caption_of_code_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.rst"
    file.write_text(".. code-block:: python\n   :linenos:\n   :caption: How to moor\n\n   moor()\n")
    assert [quote.text for quote in parse_restructured_text(file).quotes] == ["How to moor", "   moor()"]
