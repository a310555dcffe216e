"""The conversation with the model: prompts, the steps so far, and how it is shortened to fit the model's window.

It is made anew from the steps for every reply, so that a resumed trajectory goes on with the same one.

Where it has more tokens than `AgentSettings.window`, by an estimate, observations are shortened, the oldest first and
never the last two: to ids and titles, then to the number of papers. The prompts, the excerpt, and the rationale and
action of each step stay as they are.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from quoteweave.attribution.agent.actions import DESCRIPTIONS, ActionName, Condition
from quoteweave.attribution.agent.observations import shorten_to_count, shorten_to_titles
from quoteweave.attribution.agent.trajectory import AgentSettings, Reply, Step
from quoteweave.core.chat.prompts import Prompt, load_prompt
from quoteweave.core.chat.token_estimates import estimate_message_tokens
from quoteweave.core.records import Record

Message = Mapping[str, object]

CHOOSE = (
    "You have no more searches. Select now, by its id, the paper that fits best of all those that you were shown; "
    "every other action is refused."
)
_KEPT = 2
"""Last observations that are never shortened."""
_LONGEST_REPLY = 2_000
"""Characters that the model is shown of a reply of its own from which no action could be read."""


class WindowTooSmall(ValueError):
    """The conversation does not fit into the window, however it is shortened."""


class AgentPrompts:
    """The prompts of a condition. Raises UsageError for prompts that cannot be read, or lack a field."""

    def __init__(self, settings: AgentSettings, folder: Path | None = None) -> None:
        self._settings = settings
        self._used = {name: load_prompt(name, folder) for name in _names(settings.condition, settings.demonstration)}

    @property
    def fingerprints(self) -> dict[str, str]:
        """The name of each prompt, and the SHA-256 of its text."""
        return {name: prompt.sha256 for name, prompt in self._used.items()}

    def begin(self, excerpt: str) -> list[Message]:
        """The messages before the first reply."""
        system, *others, user = self._used.values()
        texts = [self._render(system), *(self._render(prompt) for prompt in others)]
        return [
            {"role": "system", "content": "\n\n".join(text.strip() for text in texts)},
            {"role": "user", "content": user.render({"question": excerpt}).strip()},
        ]

    def _render(self, prompt: Prompt) -> str:
        if prompt.name == "find_paper_system":
            return prompt.render(
                {"actions": _described(self._settings.actions), "most_actions": str(self._settings.most_actions)}
            )
        return prompt.render({})


def _names(condition: Condition, demonstration: bool) -> list[str]:
    if condition == "no_commands":
        shown = ["name_paper_demonstration"] if demonstration else []
        return ["name_paper_system", *shown, "name_paper_user"]
    shown = [f"find_paper_demonstration_{condition}"] if demonstration else []
    return ["find_paper_system", "find_paper_format", *shown, "find_paper_user"]


def _described(actions: Sequence[ActionName]) -> str:
    lines = []
    for name in actions:
        description, fields = DESCRIPTIONS[name]
        lines.append(f"- {name} ({', '.join(fields)}): {description}")
    return "\n".join(lines)


class Conversation(Record):
    """The messages to send, and a note where they were shortened."""

    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()


def make_conversation(
    begun: Sequence[Message], steps: Sequence[Step], pending: Sequence[Reply], settings: AgentSettings
) -> Conversation:
    """Return the conversation so far, shortened to `settings.window` tokens where it is longer.

    `begun` is what it begins with; `pending` are replies to the next step that had no action. Raises WindowTooSmall.
    """
    observed = [step.observed for step in steps]
    titles = counts = 0
    free = range(max(0, len(steps) - _KEPT))
    messages = _messages(begun, steps, observed, pending, settings)
    for shorten in (shorten_to_titles, shorten_to_count):
        for at in free:
            if estimate_message_tokens(messages) <= settings.window:
                break
            observed[at] = shorten(steps[at])
            titles, counts = max(titles, at + 1), at + 1 if shorten is shorten_to_count else 0
            messages = _messages(begun, steps, observed, pending, settings)
    needed = estimate_message_tokens(messages)
    if needed > settings.window:
        raise WindowTooSmall(
            f"the conversation has about {needed:,} tokens, all older observations left out, and {settings.window:,} "
            "are allowed; allow more, or have searches show fewer results"
        )
    return Conversation(messages=tuple(messages), notes=_shortened(titles, counts, settings.window))


def _shortened(titles: int, counts: int, window: int) -> tuple[str, ...]:
    if not titles:
        return ()
    told = f"To fit {window:,} tokens, what {_steps(titles)} showed was shortened to titles"
    return (f"{told}, and of {_steps(counts)} to the number of papers." if counts else f"{told}.",)


def _steps(last: int) -> str:
    return "step 1" if last == 1 else f"steps 1 to {last}"


def _messages(
    begun: Sequence[Message],
    steps: Sequence[Step],
    observed: Sequence[str],
    pending: Sequence[Reply],
    settings: AgentSettings,
) -> list[Message]:
    messages = list(begun)
    for step, text in zip(steps, observed, strict=True):
        messages += [{"role": "assistant", "content": _written(step)}, {"role": "user", "content": text}]
    if len(steps) + 1 >= settings.choose_at and settings.actions:
        # One message for both: the templates of some models refuse two of one role after another.
        messages[-1] = {"role": "user", "content": f"{messages[-1]['content']}\n\n{CHOOSE}"}
    for reply in pending:
        said = reply.text if len(reply.text) <= _LONGEST_REPLY else f"{reply.text[:_LONGEST_REPLY]}…"
        again = f"That was no action: {reply.problem}. Reply with one JSON object, as described, and nothing else."
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": again}]
    return messages


def _written(step: Step) -> str:
    action = step.action.model_dump()
    return json.dumps({"rationale": step.rationale, "action": action}, ensure_ascii=False)
