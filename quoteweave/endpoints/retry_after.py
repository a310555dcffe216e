"""The header Retry-After, by which servers say when to ask again (RFC 9110, 10.2.3)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(header: str, now: datetime | None = None) -> float | None:
    """Read the header's value, a number of seconds or a date, as seconds from `now` (None: the present).

    A date of the past is 0; None for what is neither.

    >>> retry_after_s("120"), retry_after_s("soon")
    (120.0, None)
    >>> retry_after_s("Wed, 21 Oct 2015 07:28:00 GMT", datetime(2015, 10, 21, 7, 27, 30, tzinfo=UTC))
    30.0
    """
    said = header.strip()
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        at = parsedate_to_datetime(said)
    except ValueError:
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
