"""The names of HTML's elements, by what they are read as."""

from collections.abc import Mapping
from typing import Literal

from quoteweave.documents.reflow.html_page.losses import DROPPED, EMPTY
from quoteweave.documents.reflow.html_page.set_apart import MATH_NAMES, SIGN_FONTS

_INLINE_NAMES = (
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark meter nobr output picture "
    "progress q ruby rb s samp small source span strike strong sub sup time tt u var wbr math"
)
INLINE = MATH_NAMES.union(_INLINE_NAMES.split(), SIGN_FONTS)
"""Elements within a line, and the fonts that are read as such."""
_OTHER_NAMES = (
    "address applet article aside base blockquote body center col colgroup details dialog dir div fieldset figure "
    "footer form frameset head header hgroup hr html keygen legend link listing main marquee meta noembed noframes "
    "optgroup option p param plaintext rtc search section slot summary tbody tfoot thead tr track xmp"
)
SWALLOWING = frozenset({*DROPPED - {"input", "rp", "rt"}, "title", "plaintext"})
"""Elements that take all that follows as their own content, which is not shown as text, until they are closed."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}
"""Headings, with their levels."""
ROLES = frozenset({*HEADINGS, "pre", "title", "caption", "figcaption"})
"""Elements that say what their text is."""
LISTS = frozenset({"ul", "ol", "dl", "menu"})
ITEMS: Mapping[str, Literal["li", "dt", "dd"]] = {"li": "li", "dt": "dt", "dd": "dd"}
CELLS, ROW_GROUPS, BOLD = frozenset({"td", "th"}), frozenset({"thead", "tbody", "tfoot"}), frozenset({"b", "strong"})
KNOWN_NAMES = frozenset({*DROPPED, *INLINE, *EMPTY, *ROLES, *LISTS, *ITEMS, *CELLS, "table"}).union(
    _OTHER_NAMES.split()
)
"""The names of HTML's elements."""
