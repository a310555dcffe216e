"""Retry-After in both of its forms, and what is neither."""

from datetime import UTC, datetime

import pytest

from quoteweave.endpoints.http_client import retry_after_s

NOW = datetime(2015, 10, 21, 7, 27, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 30.0),
        ("Wed, 21 Oct 2015 09:28:00 +0200", 30.0),
        ("Wed, 21 Oct 2015 07:28:00", 30.0),  # without a zone: UTC
        ("Tue, 20 Oct 2015 07:28:00 GMT", 0.0),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
    ],
)
def test_the_header_is_read_as_seconds_from_now(header: str, seconds: float | None) -> None:
    assert retry_after_s(header, NOW) == seconds
