"""Build the messages that ask, or train, a chat model to answer a question from its context."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex

from quoteweave.core.answers import Context
from quoteweave.core.chat.prompts import Prompt, has_prompt, is_shipped, load_prompt
from quoteweave.core.records import Query, Quote, place_of
from quoteweave.generation.answer_text import clip

ABSTENTION = "The quotes do not answer this question."
"""The line by which a model abstains; the prompt asks for exactly these words."""

SYSTEM, SYSTEM_TEXT, USER = "cited_answer_system", "cited_answer_system_text", "cited_answer_user"

MAX_NAME_LENGTH = 200
"""Most characters of a section's title, and of a document's name."""

Part = Mapping[str, object]


class CitedMessages:
    """The prompts for cited answers, and the messages made from them.

    `prompts_folder` may hold its own `cited_answer_user.txt` (fields: `$text_quotes`, `$image_quotes`, `$question`),
    `cited_answer_system.txt` and, for questions without pictures, `cited_answer_system_text.txt` (field:
    `$abstention`); where it holds only the former of these two, that one serves for both. A set that is shipped may
    leave `$abstention` out, as that of a benchmark in which every question is answered. Without `sources` the model is
    not told where in which document a quote stands. Raises UsageError when they cannot be read.
    """

    def __init__(self, prompts_folder: Path | None = None, *, sources: bool = True) -> None:
        self._seeing = load_prompt(SYSTEM, prompts_folder)
        own = prompts_folder is not None and has_prompt(SYSTEM, prompts_folder)
        own_for_text = prompts_folder is not None and has_prompt(SYSTEM_TEXT, prompts_folder)
        self._reading = self._seeing if own and not own_for_text else load_prompt(SYSTEM_TEXT, prompts_folder)
        self._user = load_prompt(USER, prompts_folder)
        self._optional = ("abstention",) if prompts_folder is not None and is_shipped(prompts_folder) else ()
        self._sources = sources

    @property
    def prompts(self) -> dict[str, Prompt]:
        """The prompts by their names."""
        return {SYSTEM: self._seeing, SYSTEM_TEXT: self._reading, USER: self._user}

    def of(self, query: Query, context: Context, pictures: Mapping[str, str]) -> list[Mapping[str, object]]:
        """Build system and user message. `pictures` maps names of image quotes to URLs; the others are given as words.

        Each picture is placed in the list of image quotes, after its name, source and caption. Without pictures,
        contents are plain strings, as servers of text models refuse lists of parts. Raises UsageError when a prompt
        does not have the right fields.
        """
        texts = [
            f"[{i}]{self._source(hit.quote)}\n{indented(hit.quote.words())}" for i, hit in enumerate(context.texts, 1)
        ]
        here = token_hex(16)  # which no document can foresee
        images = [
            f"{name}{self._source(quote)}\n{_heading(quote) + here if name in pictures else indented(quote.words())}"
            for name, quote in image_quotes(context).items()
        ]
        prompt = self._user.render(
            {
                "text_quotes": "\n\n".join(texts) or "(none)",
                "image_quotes": "\n\n".join(images) or "(none)",
                "question": query.text,
            }
        )
        urls = [pictures[name] for name in image_quotes(context) if name in pictures]
        content: object = with_pictures(prompt.split(here), urls) if urls else prompt
        system = (self._seeing if urls else self._reading).render({"abstention": ABSTENTION}, optional=self._optional)
        return [{"role": "system", "content": system}, {"role": "user", "content": content}]

    def _source(self, quote: Quote) -> str:
        return f" {source_of(quote)}" if self._sources else ""


def image_quotes(context: Context) -> dict[str, Quote]:
    """The context's image quotes by the names that prompts and marks give them: `image1`, `image2`, …"""
    return {f"image{number}": hit.quote for number, hit in enumerate(context.images, 1)}


def _heading(quote: Quote) -> str:
    return f"{indented(quote.caption)}\n" if quote.caption else ""


def with_pictures(texts: Sequence[str], urls: Sequence[str]) -> list[Part]:
    """Interleave texts and pictures. A user's own prompt may contain the list twice; pictures are included once."""
    parts: list[Part] = []
    for text, url in zip(texts, urls, strict=False):
        parts.append({"type": "text", "text": text})
        parts.append({"type": "image_url", "image_url": {"url": url}})
    rest = "".join(texts[len(urls) :])
    return [*parts, {"type": "text", "text": rest}] if rest else parts


def source_of(quote: Quote) -> str:
    """Describe where a quote comes from, as in the prompt; overlong titles are cut."""
    section = f", section “{clip(_one_line(quote.section), MAX_NAME_LENGTH)}”" if quote.section else ""
    document = clip(_one_line(quote.document), MAX_NAME_LENGTH)
    named = not quote.has_pages and section  # by its heading alone
    page = "" if named else f", {place_of(_one_line(quote.page_label), None, has_pages=quote.has_pages)}"
    return f"({document}{page}{section}, {quote.layout})"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def indented(text: str) -> str:
    """The words of a quote off the margin."""
    # Only the prompt's own lines begin at the margin, so that no document can forge a quote of the list.
    return "\n".join(f"    {line}" for line in text.splitlines()) or "    (no words)"
