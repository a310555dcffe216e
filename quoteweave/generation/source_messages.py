"""Build the messages that show a chat model the sources of an example under their printed names.

As in MCiteBench (arXiv 2503.02589, section 5.1): texts as `[1]`, pictures as `Figure 3`, tables as `Table 2`, in one
list of all kinds. What is asked is the example's task: an answer that cites by these names, or the letter of an option.
The prompts are our own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex

from quoteweave.core.answers import Context
from quoteweave.core.chat.prompts import Prompt, load_prompt
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Task
from quoteweave.core.records import Query, Quote
from quoteweave.generation.prompt_messages import image_quotes, indented, with_pictures


class SourcePrompts:
    """The prompts of a task, `TASK_system.txt` and `TASK_user.txt`; a user's folder may hold its own.

    Fields of the latter: `$question`, `$sources`, and `$options` where a letter is asked for. Raises UsageError when
    they cannot be read.
    """

    def __init__(self, task: Task, prompts_folder: Path | None = None) -> None:
        self.system, self.user = (load_prompt(f"{task}_{part}", prompts_folder) for part in ("system", "user"))

    @property
    def prompts(self) -> dict[str, Prompt]:
        """The prompts by their names."""
        return {prompt.name: prompt for prompt in (self.system, self.user)}


class SourceMessages:
    """The messages for one example; meets `chat_generator.Messages`.

    `order` has the ids of its sources; `seeing` says that they are to be shown as pictures where they are.
    """

    def __init__(self, prompts: SourcePrompts, example: Example, order: Sequence[str], *, seeing: bool) -> None:
        self._prompts = prompts
        self._example = example
        self._order = order
        self._seeing = seeing

    def of(self, query: Query, context: Context, pictures: Mapping[str, str]) -> list[Mapping[str, object]]:
        """Build system and user message. `pictures` maps names of image quotes, such as `image1`, to URLs.

        Each picture stands after its name; one without a URL is given as its words. Raises DatasetError for a picture
        that was to be shown, was not, and has no words; UsageError when a prompt does not have the right fields.
        """
        quotes = {hit.quote.id: hit.quote for hit in (*context.texts, *context.images)}
        urls = {quote.id: pictures[name] for name, quote in image_quotes(context).items() if name in pictures}
        for quote in quotes.values() if self._seeing else ():
            if quote.image is not None and quote.id not in urls and not quote.words().strip():
                raise DatasetError(
                    f"{quote.image}, {quote.id} of question {self._example.id!r}, has no words and was not shown: it "
                    "cannot be read as a picture, or max_pictures is less than the question has"
                )
        here = token_hex(16)  # which no document can foresee
        shown = [
            f"{source_name(quotes[name])}\n{here if name in urls else indented(quotes[name].words())}"
            for name in self._order
        ]
        fields = {"question": query.text, "sources": "\n\n".join(shown)}
        if self._example.task in ("choose_answer", "choose_source"):
            fields["options"] = "\n".join(f"{letter}. {text}" for letter, text in self._options(quotes))
        prompt = self._prompts.user.render(fields)
        parts = with_pictures(prompt.split(here), [urls[name] for name in self._order if name in urls])
        system = self._prompts.system.render({})
        return [{"role": "system", "content": system}, {"role": "user", "content": parts if urls else prompt}]

    def _options(self, quotes: Mapping[str, Quote]) -> list[tuple[str, str]]:
        """Letters with what they stand for: a source by its name, or an answer."""
        if not self._example.choices:
            raise UsageError(f"question {self._example.id!r} has no options to choose from")
        options = self._example.choices.items()
        return [(letter, source_name(quotes[text]) if text in quotes else text) for letter, text in options]


def source_name(quote: Quote) -> str:
    """The name by which an answer cites a source: `[1]` for a text, such as `Figure 3` for any other."""
    return f"[{quote.id}]" if quote.kind == "text" else quote.id
