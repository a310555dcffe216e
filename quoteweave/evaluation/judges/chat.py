"""Show quotes and answers to a judge model, and parse its JSON reply; after an unreadable one it is asked once more."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from quoteweave.core.answers import Context, Usage
from quoteweave.core.chat.completions import ChatMessage, Completion
from quoteweave.core.chat.usage import sum_known
from quoteweave.core.errors import DatasetError, EndpointError
from quoteweave.core.files.pictures import to_data_url
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Hit, Kind, Quote, mark_name, place_of
from quoteweave.core.text.tokens import single_spaced
from quoteweave.evaluation.text.responses import answer_of

ImageReader = Callable[[str], bytes]
"""Returns the bytes of the stored crop that `Quote.image` names; raises OSError if it cannot be read."""

Part = Mapping[str, object]
NamedQuote = tuple[str, Quote]
NO_ANSWER = "(there is no answer)"
"""What a judge is shown in place of an empty answer."""
MAX_QUOTE_CHARACTERS = 6_000
"""The most characters of a quote that are shown."""
_MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}


def name_quotes(hits: Sequence[Hit], kind: Kind) -> list[NamedQuote]:
    """The quotes of a context, each with the mark by which answers cite it."""
    return [(mark_name(kind, number), hit.quote) for number, hit in enumerate(hits, start=1)]


def quotes_as_text(quotes: Sequence[NamedQuote]) -> str:
    """Each quote below its name, its words cut to `MAX_QUOTE_CHARACTERS` characters."""
    shown = [
        f"{name} ({single_spaced(quote.document)}, {_label_place(quote)}, {quote.layout})\n{indent(_words(quote))}"
        for name, quote in quotes
    ]
    return "\n\n".join(shown) or "(none)"


def count_cut(contexts: Iterable[Context]) -> int:
    """How many quotes of these contexts are longer than what is shown of one."""
    return sum(len(hit.quote.all_text()) > MAX_QUOTE_CHARACTERS for context in contexts for hit in context.hits)


def _label_place(quote: Quote) -> str:
    """The quote's place by its label alone, as judges' prompts have always had it, so that verdicts stay comparable."""
    return single_spaced(place_of(quote.page_label, None, quote.heading, has_pages=quote.has_pages))


def indent(text: str) -> str:
    """Indent `text`: only our own lines begin at the margin, so that no quoted text can pass for part of the prompt."""
    return "\n".join(f"    {line}" for line in text.splitlines() if line.strip()) or "    (no words)"


def image_parts(quotes: Sequence[NamedQuote], images: ImageReader | None) -> list[Part]:
    """The parts of a message that show the crops, each after its name; without a reader, none.

    Raises DatasetError for a crop that cannot be read: a judge that sees fewer pictures grades otherwise.
    """
    parts: list[Part] = []
    for name, quote in quotes:
        if images is None or quote.image is None:
            continue
        try:
            data = images(quote.image)
        except OSError as error:
            raise DatasetError(
                f"the picture {quote.image} cannot be read ({error.strerror or error}); name the folder in which this "
                "path begins, or none to have words alone judged"
            ) from error
        media_type = _MEDIA_TYPES.get(PurePosixPath(quote.image).suffix.lower(), "image/png")
        parts.append({"type": "text", "text": f"{name}:"})
        parts.append({"type": "image_url", "image_url": {"url": to_data_url(data, media_type)}})
    return parts


def user_message(prompt: str, shown: Sequence[Part] = ()) -> ChatMessage:
    """One message of a prompt and its pictures. Servers of text models refuse parts, so text alone is a string."""
    return {"role": "user", "content": [{"type": "text", "text": prompt}, *shown] if shown else prompt}


def _words(quote: Quote) -> str:
    words = quote.all_text()
    return words if len(words) <= MAX_QUOTE_CHARACTERS else f"{words[:MAX_QUOTE_CHARACTERS]}…"


Scale = Sequence[float]
"""The scores that are allowed."""

_QUOTES = "\"'`*\\\\\u2018-\u201f\u00ab\u00bb"  # straight, curly, low and angle; also Markdown's marks and escapes
_OBJECT = lazy_regex(r"\{([^{}]*+)\}")
# A name begins where a run of its characters begins, so that no run is read twice.
_NAME = r"\w\s\-\u2010-\u2015"
_PAIR = lazy_regex(
    rf"(?<![{_NAME}])([{_NAME}]++)[{_QUOTES}]*+\s*+[:=\uff1a][\s{_QUOTES}]*+([^\s,;{_QUOTES}]++)"  # with score
)
_SCORE = lazy_regex(r"(\d{1,6}(?:\.\d{0,6})?)(?:/\d{1,6})?")


class UnreadableReply(ValueError):
    """A reply without scores; its text is a complaint that can be sent back to the judge."""


def read_scores(reply: str, scales: Mapping[str, Scale | None]) -> dict[str, float]:
    """The score of each field, from the last flat JSON object of the reply that holds any of the fields.

    Without a scale, any number is a score.

    Quotation marks may be wrong or missing, names may have other capitals, spaces, dashes or underscores, and scores
    may be in quotation marks or like "4/5"; other fields are ignored, and so is everything around the object, thinking
    included. The time is linear in the reply's length. Raises UnreadableReply if there is no such object, and if a
    score is missing, not on its field's scale, or given twice and differently.
    """
    for content in reversed(_OBJECT.findall(answer_of(reply, "own"))):
        written: dict[str, set[str]] = {}
        for name, score in _PAIR.findall(content):
            written.setdefault(_plain(name), set()).add(score)
        if any(_plain(field) in written for field in scales):
            return {field: _score(field, written.get(_plain(field), set()), scale) for field, scale in scales.items()}
    raise UnreadableReply(f"there is no whole JSON object with the fields {', '.join(scales)} in it")


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _score(field: str, written: set[str], scale: Scale | None) -> float:
    if not written:
        raise UnreadableReply(f"{field} is missing")
    scores = {_number(score) for score in written}
    if len(scores) > 1:
        raise UnreadableReply(f"{field} is given more than once, with different scores")
    score = scores.pop()
    if score is None or (scale is not None and score not in scale):
        allowed = "all numbers" if scale is None else ", ".join(f"{number:g}" for number in scale)
        raise UnreadableReply(f"{field} is {min(written)[:20]}, which is not one of {allowed}")
    return score


def _number(text: str) -> float | None:
    match = _SCORE.fullmatch(text)
    return float(match[1]) if match else None


T = TypeVar("T")

MAX_ATTEMPTS = 2
_MAX_CHARACTERS_SENT_BACK = 4_000  # of a reply that could not be read


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[T]):
    """A judge's reply: the value parsed from it, or the error."""

    value: T | None
    error: str | None
    raw: str | None
    """The last reply as received; None if the endpoint failed before there was any."""
    served_as: str | None
    """The name that the endpoint gives for the model that replied."""
    usage: Usage
    """The usage of all attempts; None for numbers that an endpoint did not report."""
    attempts: int


async def ask_judge(model: ChatModel, messages: Sequence[ChatMessage], parse: Callable[[str], T]) -> ParsedReply[T]:
    """Ask, and parse the reply with `parse`.

    If `parse` raises UnreadableReply, the reply is sent back once, with what is wrong with it.

    A failed endpoint is not asked again, as its client has retried. Raises UsageError if there is no endpoint.
    """
    completions: list[Completion] = []
    sent, error = list(messages), ""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            completions.append(await model.complete(sent))
            return _parsed_reply(completions, attempt, value=parse(completions[-1].text))
        except EndpointError as failure:
            return _parsed_reply(completions, attempt, error=str(failure))
        except UnreadableReply as problem:
            cut_short = completions[-1].finish_reason == "length"
            error = f"{problem} (it was cut short at the limit of tokens)" if cut_short else str(problem)
            sent = [*messages, *_complaint(completions[-1].text, error)]
    return _parsed_reply(completions, MAX_ATTEMPTS, error=f"the judge's reply cannot be read: {error}")


async def ask_for_scores(
    model: ChatModel, messages: Sequence[ChatMessage], scales: Mapping[str, Scale]
) -> ParsedReply[dict[str, float]]:
    """Scores on the scales given. Raises as `ask_judge`."""
    return await ask_judge(model, messages, partial(read_scores, scales=scales))


def _parsed_reply(
    completions: Sequence[Completion], attempts: int, *, value: T | None = None, error: str | None = None
) -> ParsedReply[T]:
    last = completions[-1] if completions else None
    return ParsedReply(
        value=value,
        error=error,
        raw=None if last is None else last.text,
        served_as=None if last is None else last.model,
        usage=sum_usage(completion.usage for completion in completions),
        attempts=attempts,
    )


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """The usage of several calls together; None for a number that is known of none."""
    counts = list(usages)
    return Usage(
        input_tokens=sum_known(usage.input_tokens for usage in counts),
        output_tokens=sum_known(usage.output_tokens for usage in counts),
    )


def _complaint(reply: str, problem: str) -> list[ChatMessage]:
    wanted = "Answer again, in the JSON form that was asked for, and write nothing else."
    return [
        {"role": "assistant", "content": reply[:_MAX_CHARACTERS_SENT_BACK]},
        {"role": "user", "content": f"Your reply cannot be read: {problem}. {wanted}"},
    ]
