"""Regular expressions for the beginnings of lines: bullets, section numbers, page numbers, notes."""

import re

# A bullet, or "1." "1)" "(a)" "iv." before some text.
BULLET = re.compile(r"(?:[•‣▪■●○◦–—·*➢➤✓✔\uf0b7\uf0a7-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+")
# "3", "3.1", "IV.", "A." before a title.
SECTION_NUMBER = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.|[A-Z]\.|[A-Z]\.\d+)\s+\S")
PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-–—|\s]*(\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?[-–—|\s]*", re.IGNORECASE
)
NUMERIC = re.compile(r"[-+±~<>≥≤$€£(]*\d[\d.,:/%–-]*[)%]?[a-zA-Z]{0,3}")
# A note to a table or chart by its first words: "* Estimated", "Source: …"; and "a Includes …" or "(1) Net of …", which
# may also be numbered titles.
NOTE = re.compile(
    r"\s*(?:[*†‡§¶]|(?:notes?|sources?|quelle|anmerkung(?:en)?|remarques?|fuente|fonte)\s*[:.–—-])", re.IGNORECASE
)
NOTE_MARK = re.compile(r"\s*(?:\([a-z0-9]\)|[a-z0-9]\)?|[¹²³⁴-⁹ᵃ-ᵈ])\s+[A-Z]")
