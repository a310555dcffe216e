"""Which quotes pass a filter, and notes on unknown documents and on files that could not be read."""

import json
import shlex
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from quoteweave.collection.arrays import np
from quoteweave.core.errors import UsageError, note_text
from quoteweave.core.messages import pluralize, similar_names
from quoteweave.core.records import HEADERS_AND_FOOTERS, Filter

MAX_NAMED = 5
"""Most unknown documents that a message names."""
# Documents are few and quotes many: CROSS JOIN makes SQLite choose the documents first, then walk their part of the
# covering index. A parameter that is NULL does not narrow.
_SELECT = """
SELECT quotes.row FROM documents CROSS JOIN quotes ON quotes.document = documents.key
WHERE (:documents IS NULL OR documents.name IN (SELECT value FROM json_each(:documents)))
  AND NOT EXISTS (
    SELECT * FROM json_each(:metadata) AS asked WHERE NOT EXISTS (
      SELECT * FROM json_each(documents.record, '$.metadata') AS said
      WHERE said.key = asked.key AND said.value = asked.value))
  AND (:first_page IS NULL OR quotes.page >= :first_page)
  AND (:last_page IS NULL OR quotes.page <= :last_page)
  AND (:kind IS NULL OR quotes.kind = :kind)
  AND (:layouts IS NULL OR quotes.layout IN (SELECT value FROM json_each(:layouts)))
  AND quotes.layout NOT IN (SELECT value FROM json_each(:left_out))
"""
_UNREAD = "SELECT count(*) FROM failures WHERE ?1 IS NULL OR name IN (SELECT value FROM json_each(?1))"


def select_rows(
    db: sqlite3.Connection, where: Filter | None, *, retrievable_only: bool
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Rows of the quotes that pass, ascending, int64. Raises UsageError for documents that do not exist."""
    where = where or Filter()
    require_documents(db, where.documents or ())
    parameters = {
        "documents": _json(where.documents),
        "metadata": json.dumps(dict(where.metadata)),
        "first_page": where.first_page,
        "last_page": where.last_page,
        "kind": where.kind,
        "layouts": _json(where.layouts),
        "left_out": _json(sorted(HEADERS_AND_FOOTERS) if retrievable_only else ()),
    }
    rows = np.fromiter((row for (row,) in db.execute(_SELECT, parameters)), dtype=np.int64)
    rows.sort()
    return rows


def unread_files_note(db: sqlite3.Connection, where: Filter | None, root: Path) -> str | None:
    """A note on how many of the files that the filter's names admit could not be read; None where all were read.

    A filter's metadata does not exclude any of them: the metadata of a file that could not be read is not known.
    """
    (count,) = db.execute(_UNREAD, (None if where is None else _json(where.documents),)).fetchone()
    if not count:
        return None
    consequence = "what it says is missing here" if count == 1 else "what they say is missing here"
    return note_text(
        f"{pluralize(count, 'file')} could not be read: {consequence}",
        remedy=f"see which with: quoteweave status -c {shlex.quote(str(root))}",
    )


def require_documents(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """Raise UsageError, with similar names, if one of `names` is no document."""
    sorted_names = sorted(set(names))
    query = "SELECT name FROM documents WHERE name IN (SELECT value FROM json_each(?))"
    missing = sorted(set(sorted_names).difference(name for (name,) in db.execute(query, (json.dumps(sorted_names),))))
    if missing:
        document_names = [name for (name,) in db.execute("SELECT name FROM documents ORDER BY name")]
        messages = [_unknown(name, document_names) for name in missing[:MAX_NAMED]]
        remainder = [f"and {len(missing) - MAX_NAMED:,} others"] if len(missing) > MAX_NAMED else []
        raise UsageError("; ".join([*messages, *remainder]), remedy="quoteweave list shows them all")


def _unknown(name: str, document_names: Sequence[str]) -> str:
    similar = similar_names(name, document_names)
    hint = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
    return f"no document is named {name!r}{hint}"


def _json(values: Iterable[str] | None) -> str | None:
    return None if values is None else json.dumps(list(values))
