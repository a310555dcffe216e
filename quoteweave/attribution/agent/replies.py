"""Asks the model for its next action, as a tool call where the endpoint takes tools, and as JSON where it does not."""

import re
import time

from quoteweave.attribution.agent.actions import Decision, NotAnAction, read_call, read_decision, tools_of
from quoteweave.attribution.agent.conversation import AgentPrompts, Conversation, WindowTooSmall, make_conversation
from quoteweave.attribution.agent.trajectory import AgentSettings, EndingKind, Reply, ReplyForm, Trajectory
from quoteweave.core.answers import Completion
from quoteweave.core.chat.tools import offer_tools
from quoteweave.core.errors import EndpointError, EndpointRefused, ModelError, UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.endpoints.budget import record_spending
from quoteweave.endpoints.chat_wrappers import chat_settings

_OTHER_REASONS = (401, 403, 429)
"""Statuses of refusals that have nothing to do with tools."""


class TrajectoryEnded(Exception):
    """The trajectory ends here, with a technical error."""

    def __init__(self, kind: EndingKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


class ActionModel:
    """A chat model that is asked for actions. That an endpoint refuses tools is found out once, for all excerpts.

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
        found = chat_settings(self._model).get("temperature")
        return float(found) if isinstance(found, int | float) else None

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
        self._refusal = self._refusal or refusal  # as the same was taken without tools
        if self._refusal is None or any(earlier.form == "json" for earlier in trajectory.replies):
            return reply
        note = f"Actions are asked for as JSON, as the endpoint refused tools: {self._refusal}"
        return reply.model_copy(update={"notes": (*reply.notes, note)})

    def _takes_tools(self, trajectory: Trajectory) -> bool:
        """Whether tools are offered; a trajectory that went on without them stays so when it is resumed."""
        went_on_without = any(reply.form == "json" for reply in trajectory.replies)
        return self._with_tools is not None and self._refusal is None and not went_on_without

    async def _ask(self, model: ChatModel, trajectory: Trajectory, form: ReplyForm) -> Reply:
        conversation = self._conversation(trajectory, form)
        started = time.monotonic()
        with record_spending() as account:
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
            spent=account.spending,
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
        return error.reason is None and error.status is not None and error.status not in _OTHER_REASONS
    return isinstance(error, EndpointError) and re.search(r"\btools?\b|tool_choice", str(error)) is not None
