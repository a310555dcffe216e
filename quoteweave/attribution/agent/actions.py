"""The actions of the agent, and how they are read from what the model writes.

`search_relevance`, `search_citation_count`, `read` and `select` are those of CiteME (Table 2, and section 4 for which
of them an ablation has); `search_snippets` and `find_in_text` are additions, which `extra_actions` turns off.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter, ValidationError

from quoteweave.core.chat.completions import ToolCall
from quoteweave.core.chat.tools import Tool
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.records import Record

Condition = Literal["no_commands", "search", "search_and_read"]
"""The classes of commands of CiteME's Table 4: the model names a paper from memory; it may search; it may read too."""

_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


class _Action(Record):
    # Fields that a model adds, such as a second explanation, are ignored.
    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class SearchRelevance(_Action):
    """Search for papers, as the source ranks them."""

    name: Literal["search_relevance"] = "search_relevance"
    query: _Words


class SearchCitationCount(_Action):
    """Search for papers, the most cited first."""

    name: Literal["search_citation_count"] = "search_citation_count"
    query: _Words


class SearchSnippets(_Action):
    """Search for passages of papers."""

    name: Literal["search_snippets"] = "search_snippets"
    query: _Words


class Read(_Action):
    """Read a paper that was shown."""

    name: Literal["read"] = "read"
    paper_id: _Words


class FindInText(_Action):
    """Find passages in the text of a paper that was shown."""

    name: Literal["find_in_text"] = "find_in_text"
    paper_id: _Words
    query: _Words


class Select(_Action):
    """Select a paper that was shown as the one cited, which ends the search."""

    name: Literal["select"] = "select"
    paper_id: _Words


class NamePaper(_Action):
    """Name a paper from memory, where there are no commands. No model writes this: its reply is the title."""

    name: Literal["name_paper"] = "name_paper"
    title: str


Action = Annotated[
    SearchRelevance | SearchCitationCount | SearchSnippets | Read | FindInText | Select | NamePaper,
    Field(discriminator="name"),
]
ActionName = Literal["search_relevance", "search_citation_count", "search_snippets", "read", "find_in_text", "select"]

DESCRIPTIONS: dict[ActionName, tuple[str, tuple[str, ...]]] = {
    "search_relevance": ("search for papers, the best match first", ("query",)),
    "search_citation_count": ("search for papers, the most cited first", ("query",)),
    "search_snippets": ("search the texts of papers for passages that say something", ("query",)),
    "read": ("read the text of a paper that a search has shown; its list of references is part of it", ("paper_id",)),
    "find_in_text": ("find the passages of such a paper's text that have certain words", ("paper_id", "query")),
    "select": ("give a paper that a search has shown as the one cited; this ends your work", ("paper_id",)),
}
"""How each action is described to the model, and the fields of the action."""
_FIELDS = {
    "rationale": "what you know and what you do next, in one or two sentences",
    "query": "what to look for",
    "paper_id": "the id of a paper, whole, as it was shown to you",
}
_MAX_BRACES = 200
"""Opening braces of a reply at which parsing is tried, at most: each attempt may read the rest of the reply."""
_ADDED: frozenset[ActionName] = frozenset({"search_snippets", "find_in_text"})
_READING: frozenset[ActionName] = frozenset({"read", "find_in_text"})


def actions_of(condition: Condition, *, extra: bool) -> tuple[ActionName, ...]:
    """Return the actions of a condition, with or without those that CiteME does not have.

    >>> actions_of("search", extra=False)
    ('search_relevance', 'search_citation_count', 'select')
    """
    if condition == "no_commands":
        return ()
    left_out = (frozenset[ActionName]() if extra else _ADDED) | (_READING if condition == "search" else frozenset())
    return tuple(name for name in get_args(ActionName) if name not in left_out)


class Decision(Record):
    """What the model decided: one rationale and one action."""

    rationale: str
    action: Action
    notes: tuple[str, ...] = ()


class NotAnAction(ValueError):
    """No action can be read from a reply; the text says why, for the model to mend it."""


class _Reply(BaseModel):
    rationale: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    action: dict[str, object]


_ACTION = TypeAdapter[Action](Action)


def read_decision(text: str, allowed: tuple[ActionName, ...]) -> Decision:
    """Read a reply in JSON: the first object in it that has an action; text around it is passed over.

    Raises NotAnAction for a reply without such an object, and for an action that is not among those allowed.

    >>> reply = '{"rationale": "It names GANs.", "action": {"name": "search_relevance", "query": "GAN"}}'
    >>> read_decision(reply, ("search_relevance",)).action.query
    'GAN'
    """
    objects = _objects(text)
    decisions = [candidate for candidate in objects if "action" in candidate]
    if not decisions:
        reason = "its JSON object has no field `action`" if objects else "it holds no JSON object"
        raise NotAnAction(reason)
    try:
        # JSON allows escaped lone surrogates, which cannot be stored as UTF-8; they become question marks.
        written = json.dumps(decisions[0], ensure_ascii=False).encode("utf-8", "replace")
        reply = _Reply.model_validate_json(written)
        decision = Decision(rationale=reply.rationale, action=read_action(reply.action, allowed))
    except ValidationError as error:
        raise NotAnAction(describe_validation_error(error)) from error
    except RecursionError as error:
        raise NotAnAction("its JSON is nested too deeply") from error
    if len(decisions) > 1:
        return decision.model_copy(update={"notes": (_several_actions_note(len(decisions)),)})
    return decision


def read_call(calls: Sequence[ToolCall], allowed: tuple[ActionName, ...]) -> Decision:
    """Read the first of some calls of tools, as `tools_of` gives them. Raises NotAnAction, as `read_decision`."""
    try:
        fields = json.loads(calls[0].arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise NotAnAction(f"the arguments of {calls[0].name[:100]!r} are no JSON") from error
    if not isinstance(fields, dict):
        raise NotAnAction(f"the arguments of {calls[0].name[:100]!r} are no JSON object")
    rationale = fields.pop("rationale", None)
    decision = read_decision(json.dumps({"rationale": rationale, "action": {**fields, "name": calls[0].name}}), allowed)
    if len(calls) > 1:
        decision = decision.model_copy(update={"notes": (_several_actions_note(len(calls)),)})
    return decision


def tools_of(actions: Sequence[ActionName]) -> tuple[Tool, ...]:
    """Return the actions as tools, each with the rationale as its first argument."""
    return tuple(_tool(name) for name in actions)


def _tool(name: ActionName) -> Tool:
    description, fields = DESCRIPTIONS[name]
    properties: dict[str, JsonValue] = {
        field: {"type": "string", "description": _FIELDS[field]} for field in ("rationale", *fields)
    }
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties, "required": ["rationale", *fields]}
    return Tool(name=name, description=description, parameters=schema)


def _several_actions_note(number: int) -> str:
    return f"The reply held {number} actions; the first was taken."


def read_action(fields: dict[str, object], allowed: tuple[ActionName, ...]) -> Action:
    """Read an action from its fields. Raises NotAnAction where it is unknown, not allowed, or lacks a field."""
    name = fields.get("name")
    if name not in allowed:
        raise NotAnAction(f"there is no action {str(name)[:100]!r}; the actions are {', '.join(allowed)}")
    try:
        return _ACTION.validate_python(fields)
    except ValidationError as error:
        raise NotAnAction(f"action {describe_validation_error(error)}") from error


def _objects(text: str) -> list[dict[str, object]]:
    """The JSON objects that stand in a text, one after another."""
    decoder, objects, at, tried = json.JSONDecoder(), list[dict[str, object]](), text.find("{"), 0
    while at >= 0 and tried < _MAX_BRACES:
        tried += 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            objects.append(value)
        at = text.find("{", end)
    return objects
