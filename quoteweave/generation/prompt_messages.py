"""Build the messages that ask, or train, a chat model to answer a question from its context.

`SourceMessages` shows the sources of an example under their printed names, as in MCiteBench (arXiv 2503.02589, section
5.1): texts as `[1]`, pictures as `Figure 3`, tables as `Table 2`, in one list of all kinds. What is asked is the
example's task: an answer that cites by these names, or the letter of an option. The prompts are our own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from quoteweave.core.answers import Context
from quoteweave.core.chat.completions import ChatMessage
from quoteweave.core.chat.prompts import Prompt, has_prompt, indented, is_shipped, load_prompt
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.records import Query, Quote, place_of
from quoteweave.core.text.tokens import single_spaced
from quoteweave.generation.answer_text import clip

if TYPE_CHECKING:
    from quoteweave.core.examples import Example, Task

ABSTENTION = "The quotes do not answer this question."
"""The line by which a model abstains; the prompt asks for exactly these words."""

SYSTEM, SYSTEM_TEXT, USER = "cited_answer_system", "cited_answer_system_text", "cited_answer_user"

MAX_NAME_LENGTH = 200
"""The most characters of a section's title, and of a document's name."""

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
        self._system_with_pictures = load_prompt(SYSTEM, prompts_folder)
        has_own = prompts_folder is not None and has_prompt(SYSTEM, prompts_folder)
        has_own_for_text = prompts_folder is not None and has_prompt(SYSTEM_TEXT, prompts_folder)
        self._system_text_only = (
            self._system_with_pictures if has_own and not has_own_for_text else load_prompt(SYSTEM_TEXT, prompts_folder)
        )
        self._user = load_prompt(USER, prompts_folder)
        self._optional = ("abstention",) if prompts_folder is not None and is_shipped(prompts_folder) else ()
        self._sources = sources

    @property
    def prompts(self) -> dict[str, Prompt]:
        """The prompts by their names."""
        return {SYSTEM: self._system_with_pictures, SYSTEM_TEXT: self._system_text_only, USER: self._user}

    def of(self, query: Query, context: Context, pictures: Mapping[str, str]) -> list[ChatMessage]:
        """Build system and user message. `pictures` maps names of image quotes to URLs; the others are given as words.

        Each picture is placed in the list of image quotes, after its name, source and caption. Without pictures,
        contents are plain strings, as servers of text models refuse lists of parts. Raises UsageError when a prompt
        does not have the right fields.
        """
        texts = [
            f"[{i}]{self._source(hit.quote)}\n{indented(hit.quote.shown_text)}"
            for i, hit in enumerate(context.texts, 1)
        ]
        placeholder = token_hex(16)  # a placeholder that no document can foresee
        images = []
        for name, quote in image_quotes(context).items():
            content = _heading(quote) + placeholder if name in pictures else indented(quote.shown_text)
            images.append(f"{name}{self._source(quote)}\n{content}")
        quotes = {"text_quotes": "\n\n".join(texts) or "(none)", "image_quotes": "\n\n".join(images) or "(none)"}
        prompt = self._user.render({**quotes, "question": query.text})
        urls = [pictures[name] for name in image_quotes(context) if name in pictures]
        shown: object = _with_pictures(prompt.split(placeholder), urls) if urls else prompt
        system_prompt = self._system_with_pictures if urls else self._system_text_only
        system = system_prompt.render({"abstention": ABSTENTION}, optional=self._optional)
        return [{"role": "system", "content": system}, {"role": "user", "content": shown}]

    def _source(self, quote: Quote) -> str:
        return f" {source_of(quote)}" if self._sources else ""


def image_quotes(context: Context) -> dict[str, Quote]:
    """The context's image quotes by the names that prompts and marks give them: `image1`, `image2`, …"""
    return {f"image{number}": hit.quote for number, hit in enumerate(context.images, 1)}


def _heading(quote: Quote) -> str:
    return f"{indented(quote.caption_and_unit)}\n" if quote.caption_and_unit else ""


def _with_pictures(texts: Sequence[str], urls: Sequence[str]) -> list[Part]:
    """Interleave texts and pictures. A user's own prompt may contain the list twice; pictures are included once."""
    parts: list[Part] = []
    for text, url in zip(texts, urls, strict=False):
        parts.append({"type": "text", "text": text})
        parts.append({"type": "image_url", "image_url": {"url": url}})
    remaining = "".join(texts[len(urls) :])
    return [*parts, {"type": "text", "text": remaining}] if remaining else parts


def source_of(quote: Quote) -> str:
    """Describe where a quote comes from, as in the prompt; overlong titles are cut."""
    section = f", section “{clip(single_spaced(quote.section), MAX_NAME_LENGTH)}”" if quote.section else ""
    document = clip(single_spaced(quote.document), MAX_NAME_LENGTH)
    named = not quote.has_pages and section  # by its heading alone
    page = "" if named else f", {place_of(single_spaced(quote.page_label), None, None, has_pages=quote.has_pages)}"
    return f"({document}{page}{section}, {quote.layout})"


class SourcePrompts:
    """The prompts of a task, `TASK_system.txt` and `TASK_user.txt`; a user's folder may hold its own.

    Fields of the latter: `$question`, `$sources`, and `$options` where a letter is asked for. Raises UsageError when
    they cannot be read.
    """

    def __init__(self, task: "Task", prompts_folder: Path | None = None) -> None:
        self.system, self.user = (load_prompt(f"{task}_{part}", prompts_folder) for part in ("system", "user"))

    @property
    def prompts(self) -> dict[str, Prompt]:
        """The prompts by their names."""
        return {prompt.name: prompt for prompt in (self.system, self.user)}


class SourceMessages:
    """The messages for one example; implements `chat_generator.Messages`.

    `order` has the ids of its sources; `seeing` says whether those that are pictures are to be shown as such.
    """

    def __init__(self, prompts: SourcePrompts, example: "Example", order: Sequence[str], *, seeing: bool) -> None:
        self._prompts = prompts
        self._example = example
        self._order = order
        self._system_with_pictures = seeing

    def of(self, query: Query, context: Context, pictures: Mapping[str, str]) -> list[ChatMessage]:
        """Build system and user message. `pictures` maps names of image quotes, such as `image1`, to URLs.

        Each picture stands after its name; one without a URL is given as its words. Raises DatasetError for a picture
        that was to be shown, was not, and has no words; UsageError when a prompt does not have the right fields.
        """
        quotes = {hit.quote.id: hit.quote for hit in context.hits}
        urls = {quote.id: pictures[name] for name, quote in image_quotes(context).items() if name in pictures}
        for quote in quotes.values() if self._system_with_pictures else ():
            if quote.image is not None and quote.id not in urls and not quote.all_text().strip():
                raise DatasetError(
                    f"{quote.image}, {quote.id} of question {self._example.id!r}, has no words and was not shown: it "
                    "cannot be read as a picture, or max_pictures is less than the question has"
                )
        placeholder = token_hex(16)  # a placeholder that no document can foresee
        shown = [
            f"{source_name(quotes[name])}\n{placeholder if name in urls else indented(quotes[name].shown_text)}"
            for name in self._order
        ]
        fields = {"question": query.text, "sources": "\n\n".join(shown)}
        if self._example.task in ("choose_answer", "choose_source"):
            fields["options"] = "\n".join(f"{letter}. {text}" for letter, text in self._options(quotes))
        prompt = self._prompts.user.render(fields)
        parts = _with_pictures(prompt.split(placeholder), [urls[name] for name in self._order if name in urls])
        system = self._prompts.system.render({})
        return [{"role": "system", "content": system}, {"role": "user", "content": parts if urls else prompt}]

    def _options(self, quotes: Mapping[str, Quote]) -> list[tuple[str, str]]:
        """Letters with what they stand for: a source by its name, or an answer."""
        if not self._example.choices:
            raise UsageError(f"question {self._example.id!r} has no options to choose from")
        options = self._example.choices.items()
        return [(letter, source_name(quotes[text]) if text in quotes else text) for letter, text in options]


def source_name(quote: Quote) -> str:
    """The name by which an answer cites a source: `[1]` for a text, and a name such as `Figure 3` for any other."""
    return f"[{quote.id}]" if quote.kind == "text" else quote.id
