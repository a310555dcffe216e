"""Makes PDF pages with tags: which texts are cells of tables and items of lists."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from made_files import HELVETICA, LETTER, page_pdf

Text = tuple[float, float, str]
"""Points from the left and from the bottom, and the text; its place in the page's texts is its marked content."""
Element = tuple[str, *tuple["Element | int | Mapping[str, int]", ...]]
"""A type of element and what lies in it: elements, numbers of marked content, and attributes of a cell."""


def tagged_pdf(
    path: Path, texts: Sequence[Text], *tree: Element, roles: str = "", loose: Sequence[Text] = (), drawn: str = ""
) -> Path:
    """A PDF of one page with these texts, whose tags are the elements of `tree`; `loose` texts have no tag.

    Numbers beyond those of the texts are of content that is drawn; `drawn` are operators of a page.
    """
    marked = [f"/P <</MCID {number}>> BDC {_shown(text)} EMC" for number, text in enumerate(texts)]
    content = f"{drawn} BT /F1 10 Tf " + " ".join([*marked, *map(_shown, loose)]) + " ET"
    elements: list[str] = []
    parent_of: dict[int, int] = {}

    def add(element: Element, parent: int) -> int:
        number = 7 + len(elements)
        elements.append("")
        kids, attributes = [], ""
        for inside in element[1:]:
            if isinstance(inside, int):
                kids.append(str(inside))
                parent_of[inside] = number
            elif isinstance(inside, Mapping):
                spans = " ".join(f"/{name} {span}" for name, span in inside.items())
                attributes = f"/A <</O /Table {spans}>>"
            else:
                kids.append(f"{add(inside, number)} 0 R")
        element_object = (
            f"<</Type /StructElem /S /{element[0]} /P {parent} 0 R /Pg 3 0 R {attributes} /K [{' '.join(kids)}]>>"
        )
        elements[number - 7] = element_object
        return number

    kids = " ".join(f"{add(element, 6)} 0 R" for element in tree)
    contents = range(1 + max(parent_of, default=0))
    parents = " ".join(f"{parent_of[number]} 0 R" if number in parent_of else "null" for number in contents)
    root = (
        f"<</Type /StructTreeRoot /K [{kids}] /RoleMap <<{roles}>> /ParentTree <</Nums [0 [{parents}]]>> "
        "/ParentTreeNextKey 1>>"
    )
    catalogue, page = "/MarkInfo <</Marked true>> /StructTreeRoot 6 0 R", f"{LETTER} /StructParents 0"
    return page_pdf(path, content, HELVETICA, root, *elements, page=page, catalogue=catalogue)


def _shown(text: Text) -> str:
    x, y, words = text
    return f"1 0 0 1 {x} {y} Tm ({words}) Tj"
