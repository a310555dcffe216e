"""Every error that quoteweave raises on purpose.

    QuoteweaveError
    ├── UsageError             the caller asked for something that cannot be (bad option, unknown name, bad filter)
    │   ├── MissingExtra       an optional library is not installed; the message names the extra
    │   ├── QuestionEmpty      a question holds nothing but white space
    │   ├── QuestionTooLong    a question is longer than what is read of one
    │   └── BudgetSpent        the next call of a model would go beyond the money or tokens allowed
    ├── DocumentError          one file cannot become quotes; the others go on
    │   ├── UnsupportedFormat  not a format we read; the message says how to convert it
    │   ├── EncryptedDocument  needs a password, or the one given is wrong
    │   └── DamagedDocument    truncated, empty, zero pages, or not what its name says
    ├── CollectionError        the collection folder cannot be used as asked
    │   ├── CollectionNotFound nothing there, or not a collection
    │   ├── CollectionExists   one is there already, where a new one was to be made
    │   ├── CollectionLocked   another process is writing; the message names it
    │   ├── FormatMismatch     written by another format version; the message names the way out
    │   ├── QuoteNotFound      no quote of that id
    │   ├── IndexMissing       the retriever's index has not been built; the message says how
    │   ├── FingerprintMismatch the index was built with other settings than it is searched with
    │   └── StorageError       the disk is full or refuses; what was there before is intact
    ├── ProcessError           the system starts no further process, to read files
    ├── ModelError             a model on this machine cannot be used
    │   ├── ModelNotFound      its weights are neither here nor can be downloaded; the message says how to pass a path
    │   └── ModelFailed        it does not fit into memory, or gives something that is no vector or score
    ├── EndpointError          a model's HTTP endpoint failed
    │   ├── EndpointUnreachable no answer at that address
    │   ├── EndpointRefused    it answered with an error that a retry will not mend
    │   │   └── InputsRefused  some inputs are refused in any form; the others were accepted
    │   └── EndpointBadResponse it answered something that is no completion
    ├── SourceError            a source of papers cannot be asked
    │   ├── SourceUnreachable  no answer from it, or none in time
    │   ├── SourceRefused      it answered with an error that a retry will not mend (key, request, daily limit)
    │   └── SourceBadResponse  its answer is not as documented
    ├── StateError             a file of the server's state folder cannot be used; the message names it
    │   └── ConversationNotFound no conversation of that id, or none that the asker may see
    ├── ServerError            a quoteweave server that was asked could not do it; the message names it
    │   ├── ServerUnreachable  no answer at its address, or none in time
    │   ├── ServerBadResponse  what answers there is no quoteweave server, or one of another version
    │   ├── KeyRefused         it wants a key, or does not accept the one that was sent
    │   ├── PermissionDenied   the key may not do that
    │   ├── TooManyRequests    it allows fewer requests; the message says when to ask again, where that is known
    │   └── JobFailed          a job in the background failed, or was cancelled
    └── DatasetError           a dataset, run or references file cannot be read; names file, line and field

Each message says what happened, to which file or field, and what to do. Programming mistakes raise Python's own
exceptions (`ValueError`, `TypeError`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from quoteweave.core.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

RefusalReason = Literal["window", "content_filter"]
"""Either the request is longer than the model's window, or the endpoint's content filter or the model declined it."""


class QuoteweaveError(Exception):
    """Root of every error raised on purpose; its text is fit to be shown to a user as it is.

    `remedy` is what to do about it on the machine where it was raised: a command, an option, a library to install. The
    text ends with it. Users of a server's page or API cannot do any of that and are shown only the `summary`.

    >>> error = IndexMissing("the index bge has not been built", remedy="build it with: quoteweave index build bge")
    >>> str(error), error.summary
    ('the index bge has not been built; build it with: quoteweave index build bge', 'the index bge has not been built')
    """

    def __init__(self, summary: str = "", *, remedy: str | None = None) -> None:
        super().__init__(summary if remedy is None else f"{summary}; {remedy}")
        self.summary = summary
        self.remedy = remedy
        self.while_answering = False
        """Whether the chat model that should write the answer failed, so that an answer without it is possible."""


_CAPITAL = lazy_regex(r"(?<=[a-z])(?=[A-Z])")
_names: ContextVar[Callable[[str], str | None] | None] = ContextVar("_names", default=None)
_log_instead: ContextVar[Callable[[str], None] | None] = ContextVar("_log_instead", default=None)


@contextmanager
def withhold_remedies(log: Callable[[str], None]) -> Iterator[None]:
    """Within the block, notes are for users of a server: `note_text` omits their remedies, and logs the whole notes."""
    token = _log_instead.set(log)
    try:
        yield
    finally:
        _log_instead.reset(token)


def note_text(summary: str, *, remedy: str | None) -> str:
    """Return a note or warning on what was not done, with its remedy, unless `withhold_remedies` omits that.

    >>> note_text("the index bge lacks a.pdf", remedy="build it with: quoteweave index build bge")
    'the index bge lacks a.pdf; build it with: quoteweave index build bge'
    """
    if remedy is None:
        return summary
    text, log = f"{summary}; {remedy}", _log_instead.get()
    if log is None:
        return text
    log(text)
    return summary


@contextmanager
def settings_named_by(names: Callable[[str], str | None]) -> Iterator[None]:
    """Within the block, `names` says how remedies name a setting, given by its name in Python; None if they cannot."""
    token = _names.set(names)
    try:
        yield
    finally:
        _names.reset(token)


def by_setting(advice: str, setting: str, *, in_python: str | None = None) -> str | None:
    """Return the advice with the way to give the setting in place of `{}`; None where it cannot be given.

    `in_python`: the way in Python, where that is not the setting's name alone.

    >>> by_setting("wait longer: {}", "timeout_s")
    'wait longer: timeout_s'
    """
    names = _names.get()
    name = in_python or setting if names is None else names(setting)
    return None if name is None else advice.format(name)


def join_ways(*ways: str | None) -> str | None:
    """Join what can be done, in order; None if nothing can.

    >>> join_ways("ask again", None, "wait longer"), join_ways("a", "b", "c"), join_ways(None)
    ('ask again, or wait longer', 'a, b, or c', None)
    """
    possible = [way for way in ways if way is not None]
    if len(possible) < 2:
        return possible[0] if possible else None
    return f"{', '.join(possible[:-1])}, or {possible[-1]}"


def error_reason(error: Exception) -> str:
    """Return an error's message, for errors of other libraries with the type, without which it may say little.

    >>> error_reason(UsageError("no such file")), error_reason(KeyError("page"))
    ('no such file', "unexpected key error: 'page'")
    >>> error_reason(FileNotFoundError(2, "No such file or directory", "a.png"))
    "No such file or directory: 'a.png'"
    """
    if isinstance(error, QuoteweaveError):
        return str(error)
    if isinstance(error, OSError) and str(error):
        return (error.strerror or str(error)) if error.filename is None else f"{error.strerror}: {error.filename!r}"
    kind = _CAPITAL.sub(" ", type(error).__name__).lower()
    return f"unexpected {kind}: {error}" if str(error) else f"unexpected {kind}"


class UsageError(QuoteweaveError):
    """The caller asked for something impossible: a bad option, an unknown name, a bad filter."""


class MissingExtra(UsageError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        remedy = f"install it with: pip install 'quoteweave[{extra}]'"
        super().__init__(f"{library} is not installed", remedy=remedy)
        self._arguments = (library, extra)

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[str, str]]:
        # Exceptions are pickled with their message alone, and worker processes send theirs back pickled.
        return type(self), self._arguments


class QuestionEmpty(UsageError):
    """A question holds nothing but white space."""


class QuestionTooLong(UsageError):
    """A question is longer than the limit."""


class BudgetSpent(UsageError):
    """The next model call would exceed the budget; it was not made."""


class DocumentError(QuoteweaveError):
    """A file cannot be turned into quotes."""


class UnsupportedFormat(DocumentError):
    """The file's format is not supported."""


class EncryptedDocument(DocumentError):
    """The file needs a password, or the given password is wrong."""


class DamagedDocument(DocumentError):
    """The file is truncated, empty, without pages, or not of the format that its name indicates."""


class CollectionError(QuoteweaveError):
    """The collection folder cannot be used as requested."""


class CollectionNotFound(CollectionError):
    """There is no collection at that path."""


class CollectionExists(CollectionError):
    """There is a collection at that path already, where a new one was to be made."""


class CollectionLocked(CollectionError):
    """Another process is writing to the collection."""


class FormatMismatch(CollectionError):
    """The collection was written in another version of the format."""


class QuoteNotFound(CollectionError):
    """The collection holds no quote of that id."""


class IndexMissing(CollectionError):
    """The retriever's index has not been built."""


class FingerprintMismatch(CollectionError):
    """The index was built with other settings than it is searched with."""


class StorageError(CollectionError):
    """The disk is full or refuses a write; what was stored before is intact."""


class ProcessError(QuoteweaveError):
    """The system cannot start another process."""


class ModelError(QuoteweaveError):
    """A model on this machine cannot be used."""


class ModelNotFound(ModelError):
    """The model's weights are neither on this machine nor available for download."""


class ModelFailed(ModelError):
    """The model does not fit into memory, or returns something that is not a vector or a score."""


class EndpointError(QuoteweaveError):
    """A model's HTTP endpoint failed."""


class EndpointUnreachable(EndpointError):
    """No response from the endpoint's address, or none in time."""


class EndpointRefused(EndpointError):
    """The endpoint answered with an error that a retry will not mend (key, model name, request)."""

    def __init__(
        self,
        summary: str,
        *,
        remedy: str | None = None,
        status: int | None = None,
        reason: RefusalReason | None = None,
    ) -> None:
        super().__init__(summary, remedy=remedy)
        self.status = status
        """The HTTP status; None where a model declined."""
        self.reason = reason
        """Why, if that is known and is one of these reasons."""


class InputsRefused(EndpointRefused):
    """The endpoint refuses some inputs in any form; it accepted the others."""

    def __init__(self, refused: Mapping[int, str], matrices: "Sequence[Matrix]") -> None:
        super().__init__(next(iter(refused.values())))
        self.refused = refused
        """The reason for each refused input, by its index."""
        self.matrices = matrices
        """The matrices of the accepted inputs, in order."""

    def __reduce__(self) -> "tuple[type[InputsRefused], tuple[Mapping[int, str], Sequence[Matrix]]]":
        return type(self), (self.refused, self.matrices)


class EndpointBadResponse(EndpointError):
    """The endpoint's response is not what was requested, such as a chat completion."""


class SourceError(QuoteweaveError):
    """A source of papers, such as Semantic Scholar, cannot be asked."""


class SourceUnreachable(SourceError):
    """No response from the source, or none in time."""


class SourceRefused(SourceError):
    """The source answered with an error that a retry will not mend: a key, a request, a daily limit."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status, where there was one."""


class SourceBadResponse(SourceError):
    """The source answered something other than it documents."""


class StateError(QuoteweaveError):
    """A file of the server's state folder is damaged, or cannot be read or written."""


class ConversationNotFound(StateError):
    """There is no conversation of that id, or the asker may not see it."""


class ServerError(QuoteweaveError):
    """A quoteweave server could not do what it was asked."""


class ServerUnreachable(ServerError):
    """No response from the server's address, or none in time."""


class ServerBadResponse(ServerError):
    """The server at the address is no quoteweave server, or one of another version."""


class KeyRefused(ServerError):
    """The server wants a key, or does not accept the one that was sent."""


class PermissionDenied(ServerError):
    """The key may not do what was asked."""


class TooManyRequests(ServerError):
    """The server allows fewer requests, for this key or for all."""


class JobFailed(ServerError):
    """A job of the server, such as adding documents, failed or was cancelled."""


class DatasetError(QuoteweaveError):
    """A dataset, run or references file is malformed or cannot be read."""
