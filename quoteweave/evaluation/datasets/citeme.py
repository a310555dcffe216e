"""CiteME (Press et al., NeurIPS 2024, arXiv 2407.12861): excerpts of papers, each with one citation to be attributed.

A comma-separated table with a header. `excerpt` has [CITATION] in place of the citation, and `target_paper_title` is
the cited paper, or several titles that are equally right, separated by [TITLE_SEPARATOR]; `source_paper_title`,
`source_paper_url` and `year` belong to the paper that the excerpt is from, `target_paper_url` is the address of the
cited one, and `split` a part of the dataset; each row has an `id`. `tags`, the topics of an excerpt, separated by
semicolons or else commas, is read if there is such a column. The text of the paper counts 130 excerpts; every per cent
that its tables print of systems is a multiple of 1/119.

Results in the format of the authors' code are one JSON object with `metadata` and `results`, each of which names a
paper. A result's `history` and `papers` become the steps of its search. The last message of the assistant is the last
action; each search takes the next of the lists in `papers`.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from quoteweave.core.answers import Context, Usage
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, NamedPaper, PaperSearch, Prediction, Reference, SearchOutcome, SearchStep
from quoteweave.core.files.jsonl import describe_validation_error, iter_lines
from quoteweave.core.files.strict_json import RepeatedName, require_names_once
from quoteweave.core.records import Query
from quoteweave.evaluation.datasets.rows import FileRecord

COLUMNS = ("id", "excerpt", "target_paper_title")
SEPARATOR = "[TITLE_SEPARATOR]"


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, str_min_length=1)

    id: str
    excerpt: str
    target_paper_title: str
    target_paper_url: str | None = None
    source_paper_title: str | None = None
    source_paper_url: str | None = None
    year: int | None = Field(default=None, ge=1000, le=9999)
    split: str | None = None
    tags: str | None = None

    @field_validator("year", mode="before")
    @classmethod
    def _without_fraction(cls, value: object) -> object:
        """Convert years such as `2024.0`, which data frames with gaps write."""
        return value.removesuffix(".0") if isinstance(value, str) else value


def load_citeme(path: Path) -> list[Example]:
    """The excerpts of a file, in its order; a `.gz` file is unpacked.

    An example's document is the paper that its excerpt is from. Raises DatasetError, naming file, row and column, for
    unreadable content, missing columns and repeated excerpts.
    """
    rows = csv.DictReader(io.StringIO(_text(path), newline=""), strict=True)
    examples: dict[str, Example] = {}
    try:
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise DatasetError(
                f"{path} has no column {', '.join(missing)}; CiteME's have {', '.join(COLUMNS)} and others"
            )
        for row in rows:
            example = _example(row, f"{path}, line {rows.line_num}")
            if example.id in examples:
                raise DatasetError(f"{path}, line {rows.line_num}, id: {example.id!r} comes twice")
            examples[example.id] = example
    except csv.Error as error:
        raise DatasetError(f"{path}, line {rows.line_num}: no row of a table ({error})") from error
    return list(examples.values())


def _text(path: Path) -> str:
    try:
        return b"".join(line for _, line in iter_lines(path)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is no text in UTF-8 (byte {error.start + 1:,})") from error


def _example(row: dict[str, str | None], where: str) -> Example:
    if None in row or None in row.values():
        raise DatasetError(f"{where}: it has more or fewer columns than the header")
    try:
        fields = _Row.model_validate({name: value or None for name, value in row.items()})
    except ValidationError as error:
        raise DatasetError(f"{where}, {describe_validation_error(error)}") from error
    titles = _split_cell(fields.target_paper_title)
    if not titles:
        raise DatasetError(f"{where}, target_paper_title: it names no paper")
    return Example(
        id=fields.id,
        query=Query(text=fields.excerpt),
        document=fields.source_paper_title,
        subset=fields.split,
        year=fields.year,
        address=fields.source_paper_url,
        tags=_tags(fields.tags or ""),
        context=Context(),
        task="name_paper",
        reference=Reference(
            short_answer=titles[0], alternatives=titles[1:], addresses=_split_cell(fields.target_paper_url or "")
        ),
    )


def _split_cell(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(SEPARATOR) if part.strip())


def _tags(cell: str) -> tuple[str, ...]:
    tags = (tag.strip() for tag in cell.split(";" if ";" in cell else ","))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


IS_CORRECT = "is_correct"
"""A field of every result, which identifies such a file."""
_ASSISTANT = "assistant"
_NO_FILE, _DAMAGED, _UNKNOWN = "does not have an open access PDF", "error reading the PDF", "not found in buffer"
_PROBLEMS: Mapping[str, str] = {_NO_FILE: "not_open_access", _DAMAGED: "unreachable", _UNKNOWN: "never_shown"}
"""Parts of the sentences that the authors' agent is shown when a paper cannot be read, and what they mean."""
_OUTCOMES: Sequence[tuple[str, SearchOutcome]] = (
    (r"max actions reached", "no_selection"),
    # Such an error quotes the reply, which may contain any of the other words.
    (r"^\s*(?:failed to parse|could not parse|invalid json|got invalid)", "bad_format"),
    (r"content.?(?:filter|management)|content polic|safety system|output blocked", "content_filter"),
    (r"context.?(?:length|window)|prompt is too long|maximum.{0,40}tokens|too many tokens", "window"),
    (r"pars(?:e|ing).{0,20} output|failed to parse|invalid json|output.?pars|json", "bad_format"),
    (r"rate.?limit|timed? ?out|connection|overloaded|internal server|error code: 5|api", "endpoint"),
    (r"semantic.?scholar|selenium|webdriver|element|chrome", "source"),
)
"""Patterns of errors as providers and libraries word them, tried in this order, and how such a search ended."""


class _Tokens(FileRecord):
    input: int = Field(ge=0)
    output: int = Field(ge=0)


class _Paper(FileRecord):
    title: str
    paperId: str | None = None

    def named(self) -> NamedPaper:
        return NamedPaper(title=self.title, identifiers={"semantic_scholar": self.paperId} if self.paperId else {})


class _Message(FileRecord):
    role: str
    content: str


class _Result(FileRecord):
    id: str
    selected: _Paper | None = None
    error: str | None = None
    duration: float | None = Field(default=None, ge=0)
    tokens: _Tokens | None = None
    is_in_search: int | None = None
    papers: tuple[tuple[_Paper, ...], ...] | None = None
    history: tuple[_Message, ...] = ()


class _Metadata(FileRecord):
    model: str | None = None
    executor: str | None = None


class _Results(FileRecord):
    metadata: _Metadata = _Metadata()
    results: tuple[_Result, ...]


def load_citeme_results(path: Path) -> list[Prediction]:
    """One prediction per result: the title of the selected paper, the search for it, or the technical error.

    A search that used up its actions without a selection is not a technical error: it names no paper. Raises
    DatasetError, naming file and field, for unreadable content.
    """
    content = b"".join(line for _, line in iter_lines(path))
    try:
        require_names_once(content)
        parsed = _Results.model_validate_json(content)
    except RepeatedName as error:
        raise DatasetError(f"{path}, line {error.lineno}: {error.msg}") from error
    except ValidationError as error:
        raise DatasetError(f"{path}: {describe_validation_error(error)}") from error
    return [_prediction(result, parsed.metadata) for result in parsed.results]


def outcome_of_error(error: str) -> SearchOutcome:
    """How a search ended, by the error that the authors' code recorded: the text of any exception.

    >>> outcome_of_error("Max actions reached"), outcome_of_error("Invalid json output: ```json")
    ('no_selection', 'bad_format')
    """
    return next((outcome for pattern, outcome in _OUTCOMES if re.search(pattern, error, re.IGNORECASE)), "other")


def _prediction(result: _Result, metadata: _Metadata) -> Prediction:
    tokens, end_reason = result.tokens, result.error or "no paper was selected"
    selected = None if result.selected is None else result.selected.named()
    searches = metadata.executor != "LLMNoSearch"
    steps = tuple(_steps(result)) if searches else ()
    tells_if_found = (
        searches and "is_in_search" in result.model_fields_set and not (steps and result.papers is not None)
    )
    search = PaperSearch(
        outcome="selected" if selected else outcome_of_error(end_reason),
        selected=selected,
        steps=steps,
        found=(result.is_in_search is not None) if tells_if_found else None,
    )
    selected_title = "" if selected is None else selected.title
    return Prediction(
        example=result.id,
        scope="context",
        response=None if search.technical else selected_title,
        paper_search=search,
        model=metadata.model,
        usage=Usage() if tokens is None else Usage(input_tokens=tokens.input, output_tokens=tokens.output),
        seconds=result.duration,
        error=end_reason if search.technical else None,
    )


def _steps(result: _Result) -> Iterator[SearchStep]:
    """An action for each message of the assistant; `unreadable` for one that is not an action."""
    lists = iter(result.papers or ())
    papers_by_id = {paper.paperId: paper.named() for papers in result.papers or () for paper in papers}
    for position, message in enumerate(result.history):
        if message.role != _ASSISTANT:
            continue
        name, argument, rationale = _action(message.content)
        after = result.history[position + 1].content if position + 1 < len(result.history) else ""
        may_have_failed = name != "select" or _UNKNOWN in after
        problem = next((kind for words, kind in _PROBLEMS.items() if may_have_failed and words in after[:2000]), None)
        if name.startswith("search"):
            papers = tuple(paper.named() for paper in next(lists, ()))
            problem = None
        else:
            papers = (papers_by_id[argument],) if argument in papers_by_id else ()
        yield SearchStep(action=name, argument=argument, rationale=rationale, papers=papers, problem=problem)


def _action(content: str) -> tuple[str, str, str]:
    """Name, argument and rationale, read from the first brace on, as the authors' code does."""
    try:
        value, _ = json.JSONDecoder().raw_decode(content[content.index("{") :])
        action = value["action"]
        argument = action.get("query", action.get("paper_id", ""))
        return str(action["name"]), str(argument), str(value.get("reason", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "unreadable", "", content[:1000]
