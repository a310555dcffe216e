"""Asks the model for its next action: the conversation with it, and how its replies are read.

The model acts by a tool call where the endpoint takes tools, and in JSON where it does not. The conversation is made
anew from the steps for every reply, so that a resumed trajectory goes on with the same one.

Where it has more tokens than `AgentSettings.window`, by an estimate, observations are shortened, the oldest first and
never the last two: to ids and titles, then to the number of papers. The prompts, the excerpt, and the rationale and
action of each step stay as they are.
"""

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

from quoteweave.attribution.agent.actions import (
    DESCRIPTIONS,
    ActionName,
    Decision,
    NotAnAction,
    read_call,
    read_decision,
    tools_of,
)
from quoteweave.attribution.agent.observations import shorten_to_count, shorten_to_titles
from quoteweave.attribution.agent.trajectory import AgentSettings, EndingKind, Reply, ReplyForm, Step, Trajectory
from quoteweave.core.chat.completions import ChatMessage, Completion
from quoteweave.core.chat.prompts import Prompt, load_prompt
from quoteweave.core.chat.tools import offer_tools
from quoteweave.core.chat.usage import estimate_message_tokens, estimate_tokens
from quoteweave.core.errors import EndpointError, EndpointRefused, ModelError, UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import Record
from quoteweave.endpoints.budget import record_spending

CHOOSE = (
    "You have no more searches. Select now, by its id, the paper that fits best of all those that you were shown; "
    "every other action is refused."
)
_FORMATS: dict[ReplyForm, str] = {"json": "find_paper_json", "tools": "find_paper_tools"}
_NEVER_SHORTENED = 2
"""How many of the last observations are never shortened."""
_AGAIN: dict[ReplyForm, str] = {
    "json": "Reply with one JSON object, as described, and nothing else.",
    "tools": "Call one of the tools, with all of its arguments.",
}
_MAX_REPLY_CHARACTERS = 2_000
"""If no action can be read from a reply, so many of its characters are shown to the model again, at most."""


class WindowTooSmall(ValueError):
    """The conversation does not fit into the window, however it is shortened."""


class AgentPrompts:
    """The prompts of a condition. Raises UsageError for prompts that cannot be read, or lack a field."""

    def __init__(self, settings: AgentSettings, folder: Path | None = None) -> None:
        self._settings = settings
        self._used = {name: load_prompt(name, folder) for name in _names(settings)}

    @property
    def fingerprints(self) -> dict[str, str]:
        """The name of each prompt, and the SHA-256 of its text."""
        return {name: prompt.sha256 for name, prompt in self._used.items()}

    def begin(self, excerpt: str, form: ReplyForm) -> list[ChatMessage]:
        """The messages before the first reply."""
        unused = _FORMATS["json" if form == "tools" else "tools"]
        *before, user = (prompt for name, prompt in self._used.items() if name != unused)
        return [
            {"role": "system", "content": "\n\n".join(self._render(prompt).strip() for prompt in before)},
            {"role": "user", "content": user.render({"question": excerpt}).strip()},
        ]

    def _render(self, prompt: Prompt) -> str:
        if prompt.name == "find_paper_system":
            return prompt.render(
                {"actions": _described(self._settings.actions), "most_actions": str(self._settings.most_actions)}
            )
        return prompt.render({})


def _names(settings: AgentSettings) -> list[str]:
    if settings.condition == "no_commands":
        shown = ["name_paper_demonstration"] if settings.demonstration else []
        return ["name_paper_system", *shown, "name_paper_user"]
    formats = list(_FORMATS.values()) if settings.form == "auto" else [_FORMATS[settings.form]]
    shown = [f"find_paper_demonstration_{settings.condition}"] if settings.demonstration else []
    return ["find_paper_system", *formats, *shown, "find_paper_user"]


def _described(actions: Sequence[ActionName]) -> str:
    lines = []
    for name in actions:
        description, fields = DESCRIPTIONS[name]
        lines.append(f"- {name} ({', '.join(fields)}): {description}")
    return "\n".join(lines)


class Conversation(Record):
    """The messages to send, and a note where they were shortened."""

    messages: tuple[ChatMessage, ...]
    notes: tuple[str, ...] = ()


def make_conversation(begun: Sequence[ChatMessage], trajectory: Trajectory, form: ReplyForm) -> Conversation:
    """Return the conversation so far, shortened to the settings' `window` where it has more tokens.

    `begun` is what it begins with. All actions in it have one form, whatever form they were written in. Raises
    WindowTooSmall.
    """
    steps, settings = trajectory.steps, trajectory.setup.settings
    observed = [step.observed for step in steps]
    room = settings.window - (_tool_tokens(settings.actions) if form == "tools" else 0)
    titles = counts = 0
    free = range(max(0, len(steps) - _NEVER_SHORTENED))
    messages = _messages(begun, trajectory, observed, form)
    for shorten in (shorten_to_titles, shorten_to_count):
        for at in free:
            if estimate_message_tokens(messages) <= room:
                break
            observed[at] = shorten(steps[at])
            titles, counts = max(titles, at + 1), at + 1 if shorten is shorten_to_count else 0
            messages = _messages(begun, trajectory, observed, form)
    needed = estimate_message_tokens(messages)
    if needed > room:
        raise WindowTooSmall(
            f"the conversation has about {needed:,} tokens, all older observations left out, and {settings.window:,} "
            "are allowed; allow more, or have searches show fewer results"
        )
    return Conversation(messages=tuple(messages), notes=_shortened(titles, counts, settings.window))


def _shortened(titles: int, counts: int, window: int) -> tuple[str, ...]:
    if not titles:
        return ()
    note = f"To fit {window:,} tokens, what {_steps(titles)} showed was shortened to titles"
    return (f"{note}, and of {_steps(counts)} to the number of papers." if counts else f"{note}.",)


def _steps(last: int) -> str:
    return "step 1" if last == 1 else f"steps 1 to {last}"


def _tool_tokens(actions: Sequence[ActionName]) -> int:
    """Tokens of the tools that are offered, which are sent apart from the messages."""
    return estimate_tokens("".join(tool.model_dump_json() for tool in tools_of(actions)))


def _messages(
    begun: Sequence[ChatMessage], trajectory: Trajectory, observed: Sequence[str], form: ReplyForm
) -> list[ChatMessage]:
    messages, settings = list(begun), trajectory.setup.settings
    for step, text in zip(trajectory.steps, observed, strict=True):
        messages += _as_tool_call(step, text) if form == "tools" else _as_json(step, text)
    if len(trajectory.steps) + 1 >= settings.choose_at and settings.actions:
        # Appended to the last message, as the templates of some models refuse two messages of one role in a row.
        messages[-1] = {**messages[-1], "content": f"{messages[-1]['content']}\n\n{CHOOSE}"}
    for reply in trajectory.pending:
        again = f"That was no action: {reply.problem}. {_AGAIN[form]}"
        messages += [{"role": "assistant", "content": _written(reply)}, {"role": "user", "content": again}]
    return messages


def _as_json(step: Step, observed: str) -> list[ChatMessage]:
    decision = json.dumps({"rationale": step.rationale, "action": step.action.model_dump()}, ensure_ascii=False)
    return [{"role": "assistant", "content": decision}, {"role": "user", "content": observed}]


def _as_tool_call(step: Step, observed: str) -> list[ChatMessage]:
    fields = {"rationale": step.rationale, **step.action.model_dump(exclude={"name"})}
    function = {"name": step.action.name, "arguments": json.dumps(fields, ensure_ascii=False)}
    id = f"action{step.number:03}"  # some models' templates take ids of exactly nine letters and digits
    call = {"id": id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": observed},
    ]


def _written(reply: Reply) -> str:
    """A reply without an action as plain text, because a tool call without a result is refused."""
    calls = "\n".join(f"{call.name}({call.arguments})" for call in reply.tool_calls)
    text = f"{reply.text}\n{calls}".strip() or "(nothing)"
    return text if len(text) <= _MAX_REPLY_CHARACTERS else f"{text[:_MAX_REPLY_CHARACTERS]}…"


_STATUSES_UNRELATED_TO_TOOLS = (401, 403, 429)
"""HTTP statuses of refusals that have nothing to do with tools."""


class TrajectoryEnded(Exception):
    """The trajectory ends here, without a selected paper; `kind` says why."""

    def __init__(self, kind: EndingKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class ActionModel:
    """A chat model that is asked for actions. If its endpoint refuses tools, this is remembered for all excerpts.

    Raises UsageError where the settings want tools and the model takes none.
    """

    def __init__(self, model: ChatModel, settings: AgentSettings, prompts: AgentPrompts) -> None:
        self.name, self.prompts = model.name, prompts
        self._settings, self._model = settings, model
        wanted = settings.form != "json" and settings.actions
        self._with_tools = offer_tools(model, tools_of(settings.actions)) if wanted else None
        if settings.form == "tools" and self._with_tools is None:
            raise UsageError(f"the model {model.name} cannot be offered tools; leave the form of actions to `auto`")
        self._refusal: str | None = None

    @property
    def temperature(self) -> float | None:
        """The model's temperature, where it is set."""
        temperature = self._model.request_settings().get("temperature")
        return float(temperature) if isinstance(temperature, int | float) else None

    async def ask(self, trajectory: Trajectory) -> Reply:
        """Return the next reply. Raises TrajectoryEnded where there is none, and BudgetSpent."""
        refusal: str | None = None
        try:
            if self._takes_tools(trajectory):
                return await self._ask(self._with_tools or self._model, trajectory, "tools")
        except (EndpointError, ModelError) as error:
            if self._settings.form == "tools" or not _refuses_tools(error):
                raise _ended(error) from error
            refusal = str(error)
        try:
            reply = await self._ask(self._model, trajectory, "json")
        except (EndpointError, ModelError) as error:
            raise _ended(error) from error
        self._refusal = self._refusal or refusal  # the same request succeeded without tools
        if self._refusal is None or any(earlier.form == "json" for earlier in trajectory.replies):
            return reply
        note = f"Actions are asked for as JSON, as the endpoint refused tools: {self._refusal}"
        return reply.model_copy(update={"notes": (*reply.notes, note)})

    def _takes_tools(self, trajectory: Trajectory) -> bool:
        """Whether tools are offered; a trajectory that went on without them is resumed without them."""
        went_on_without = any(reply.form == "json" for reply in trajectory.replies)
        return self._with_tools is not None and self._refusal is None and not went_on_without

    async def _ask(self, model: ChatModel, trajectory: Trajectory, form: ReplyForm) -> Reply:
        conversation = self._conversation(trajectory, form)
        started = time.monotonic()
        with record_spending() as recorder:
            completion = await model.complete(conversation.messages)
        seconds, problem = time.monotonic() - started, self._problem(completion)
        if problem is not None and completion.finish_reason == "length":
            problem = f"{problem} (it was cut off at the limit of tokens: write less)"
        return Reply(
            text=completion.text,
            tool_calls=completion.tool_calls,
            form=form,
            finish_reason=completion.finish_reason,
            usage=completion.usage,
            spent=recorder.spending,
            seconds=seconds,
            problem=problem,
            notes=conversation.notes,
        )

    def _conversation(self, trajectory: Trajectory, form: ReplyForm) -> Conversation:
        begun = self.prompts.begin(trajectory.setup.excerpt, form)
        try:
            return make_conversation(begun, trajectory, form)
        except WindowTooSmall as error:
            raise TrajectoryEnded("window", str(error)) from error

    def _problem(self, completion: Completion) -> str | None:
        if not self._settings.actions:
            return None
        try:
            read_reply(completion, self._settings)
        except NotAnAction as error:
            return str(error)
        return None


def read_reply(reply: Completion | Reply, settings: AgentSettings) -> Decision:
    """Read the action of a reply: its first call of a tool, or else the JSON in its text. Raises NotAnAction."""
    if reply.tool_calls:
        return read_call(reply.tool_calls, settings.actions)
    return read_decision(reply.text, settings.actions)


def _ended(error: EndpointError | ModelError) -> TrajectoryEnded:
    reason = error.reason if isinstance(error, EndpointRefused) else None
    return TrajectoryEnded(reason or "endpoint", str(error))


def _refuses_tools(error: EndpointError | ModelError) -> bool:
    """Whether an endpoint may have failed because it was offered tools; some servers answer 500 then, and say so."""
    if isinstance(error, EndpointRefused):
        return error.reason is None and error.status is not None and error.status not in _STATUSES_UNRELATED_TO_TOOLS
    return isinstance(error, EndpointError) and re.search(r"\btools?\b|tool_choice", str(error)) is not None
