"""reStructuredText is read as plain text, without its marks."""

from pathlib import Path

from quoteweave.documents.reflow.restructured_text import LEFT_OUT, parse_restructured_text

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
