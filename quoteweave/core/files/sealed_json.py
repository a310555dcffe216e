"""JSON objects that end with a checksum of their own text, so that damage to a saved file is detected.

The last field, `"xxh3":"0123456789abcdef"`, is XXH3 (64 bits, in hexadecimal) of everything before its comma. It
detects damage by disks, copies and programs; it does not protect against deliberate changes. Text without the field,
as written by other programs and earlier versions, is read as it is.
"""

import re

from quoteweave.core.errors import DatasetError

_SEAL = re.compile(rb',\s*+"xxh3":\s*+"([^"]*+)"\s*+\}\s*+\Z')
_MAX_SEAL = 128
"""How many bytes at the end of a text are searched for the field."""


def sealed_json(text: bytes) -> bytes:
    """Return the text of a JSON object, which must have fields, with its checksum as the last field."""
    content = text.rstrip().removesuffix(b"}").rstrip()
    return content + b',"xxh3":"' + _checksum(content) + b'"}'


def unsealed_json(text: bytes) -> bytes:
    """Return the text without its checksum. Raises ValueError if the checksum does not match."""
    seal = _SEAL.search(text, max(0, len(text) - _MAX_SEAL))
    if seal is None:
        return text
    content = text[: seal.start()]
    if seal[1] != _checksum(content):
        raise ValueError("its content is not what was written")
    return content + b"}" + (b"\n" if text.endswith(b"\n") else b"")


def damaged_error(place: str, advice: str) -> DatasetError:
    """The error for a file or line whose checksum does not match; `advice` is what to do without a copy."""
    return DatasetError(
        f"{place} is damaged: its content is not what was written; restore the file, or {advice}. If it was changed on "
        "purpose, remove its field xxh3"
    )


def _checksum(content: bytes) -> bytes:
    import xxhash

    return xxhash.xxh3_64_hexdigest(content).encode()
