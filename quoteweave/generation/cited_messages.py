"""A question and its context as the messages that a chat model is asked, or trained, with."""

from collections.abc import Mapping
from pathlib import Path

from quoteweave.core.answers import Context
from quoteweave.core.prompts import load_prompt
from quoteweave.core.records import Query, Quote

ABSTENTION = "The quotes do not answer this question."
"""The line by which a model says that the quotes do not answer; the prompt asks for it word for word."""

Part = Mapping[str, object]


class CitedMessages:
    """The prompts of cited answers, filled in.

    `prompts_folder` may hold its own `cited_answer_system.txt` (field: `$abstention`) and `cited_answer_user.txt`
    (fields: `$text_quotes`, `$image_quotes`, `$question`). Raises UsageError when they cannot be read.
    """

    def __init__(self, prompts_folder: Path | None = None) -> None:
        self.system_prompt = load_prompt("cited_answer_system", prompts_folder)
        self.user_prompt = load_prompt("cited_answer_user", prompts_folder)

    def of(self, query: Query, context: Context, pictures: Mapping[str, str]) -> list[Mapping[str, object]]:
        """System and user message. `pictures` has URLs by the names of image quotes; those without one give words.

        Raises UsageError when a prompt does not have the right fields.
        """
        texts = [
            f"[{i}] {_source(hit.quote)}\n{_indented(hit.quote.words())}" for i, hit in enumerate(context.texts, 1)
        ]
        images = []
        for name, quote in image_quotes(context).items():
            words = "    (the picture follows below)" if name in pictures else _indented(quote.words())
            images.append(f"{name} {_source(quote)}\n{words}")
        prompt = self.user_prompt.render(
            {
                "text_quotes": "\n\n".join(texts) or "(none)",
                "image_quotes": "\n\n".join(images) or "(none)",
                "question": query.text,
            }
        )
        # Servers of text models refuse a list of parts, so that it is used only where there are pictures.
        content: object = [_text_part(prompt), *_picture_parts(context, pictures)] if pictures else prompt
        system = self.system_prompt.render({"abstention": ABSTENTION})
        return [{"role": "system", "content": system}, {"role": "user", "content": content}]


def image_quotes(context: Context) -> dict[str, Quote]:
    """The context's image quotes by the names that prompts and marks give them: `image1`, `image2`, …"""
    return {f"image{number}": hit.quote for number, hit in enumerate(context.images, 1)}


def _text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def _picture_parts(context: Context, pictures: Mapping[str, str]) -> list[Part]:
    parts: list[Part] = []
    quotes = image_quotes(context)
    for name, url in pictures.items():
        parts.append(_text_part(f"{name}: {_one_line(quotes[name].caption or 'without a caption')}"))
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _source(quote: Quote) -> str:
    section = f", section “{_one_line(quote.section)}”" if quote.section else ""
    return f"({_one_line(quote.document)}, page {_one_line(quote.page_label)}{section}, {quote.layout})"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    # Only our own lines begin at the margin, so that no document can write a quote of its own into the list.
    return "\n".join(f"    {line}" for line in text.splitlines()) or "    (no words)"
