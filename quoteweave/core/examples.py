"""Records for evaluation: an example of a dataset, its gold reference, and a configuration's prediction for it.

An *item* is a unit to which gold refers: a quote of the example's own context, or a retrieved quote, page or passage.

Where the task is to name a paper, a prediction records the search for it: each action with what it showed, and how the
search ended (CiteME).
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from pydantic import Field

from quoteweave.core.answers import Answer, Context, Usage
from quoteweave.core.boxes import Box
from quoteweave.core.errors import error_reason
from quoteweave.core.messages import pluralize, replace_lone_surrogates
from quoteweave.core.records import Hit, Kind, PageHit, Query, Record

TechnicalError = Literal["bad_format", "content_filter", "window", "endpoint", "source", "other"]
"""The error that ended a search: the model wrote no action in the required form; its provider refused the text; the
history no longer fits its window; its endpoint failed; the source of papers failed; or anything else."""
SearchOutcome = Literal["selected", "no_selection", "loops", TechnicalError]
"""How a search ended: with a paper; with its actions used up and none selected; with one action made again and again;
or with a technical error."""
TECHNICAL_ERRORS: tuple[TechnicalError, ...] = get_args(TechnicalError)


class NamedPaper(Record):
    """A paper by its title and other data that identify it."""

    title: str
    identifiers: Mapping[str, str] = Field(default_factory=dict, description="such as `doi`, `arxiv`")


class SearchStep(Record):
    """One action of a search, and its result."""

    action: str = Field(description="its name, such as `search_relevance`, `read` or `select`")
    argument: str = Field(default="", description="the query, the words looked for, or the paper's id")
    rationale: str = Field(default="", description="why it was taken, as the model said")
    papers: tuple[NamedPaper, ...] = Field(default=(), description="that it found, read or chose")
    problem: str | None = Field(default=None, description="why it gave nothing, such as `not_open_access`")


class PaperSearch(Record):
    """The search for a paper.

    >>> step = SearchStep(action="search_relevance", argument="blur", papers=(NamedPaper(title="Deep Blur"),))
    >>> [paper.title for paper in PaperSearch(outcome="no_selection", steps=(step,)).shown()]
    ['Deep Blur']
    """

    outcome: SearchOutcome
    selected: NamedPaper | None = None
    steps: tuple[SearchStep, ...] = ()
    found: bool | None = Field(
        default=None,
        description="whether the paper cited was shown, where no steps tell: as another program says, or False of a "
        "search that was broken off before its first step",
    )

    @property
    def technical(self) -> bool:
        """Whether a technical error ended the search, so that it does not count as a wrong answer."""
        return self.outcome in TECHNICAL_ERRORS

    def shown(self) -> Iterator[NamedPaper]:
        """The papers that its searches showed, in order, repeated where they were found again."""
        for step in self.steps:
            if step.action.startswith("search"):
                yield from step.papers


Scope = Literal["document", "collection", "context"]
AnswerFormat = Literal["int", "float", "str", "list", "none"]
"""The type of a short answer; `none`: the documents do not answer the question."""
Task = Literal["answer", "cite_sources", "choose_answer", "choose_source", "name_paper"]
"""What a model is asked to do: to answer with marks that name quotes by their numbers; to answer and cite sources by
their printed names, such as Figure 3; to choose, by its letter, the right one of several answers or of several sources;
or to name the paper that an excerpt cites."""


class GoldBox(Record):
    """A region of the example's document that contains the evidence."""

    page: int = Field(ge=0)
    bbox: Box


class GoldLayout(Record):
    """A layout element that contains the evidence, numbered as in MMDocIR."""

    document: str
    layout_id: int = Field(ge=0)
    kind: Kind | None = Field(default=None, description="where the dataset tells it")


class GoldRegion(Record):
    """A region that contains the evidence, as annotated: it may be reversed, or lie outside its page."""

    document: str
    page: int = Field(ge=0, description="from 0")
    bbox: Box = Field(description="thousandths of the page's width and height, from its top left")


class PageBoxes(Record):
    """Boxes of the quotes on one page of a document, in thousandths of the page's width and height."""

    document: str
    page: int = Field(ge=0, description="from 0")
    boxes: tuple[Box, ...]


class Reference(Record):
    """The gold reference of an example. Fields that the dataset does not give, or that have no gold, are None or empty.

    >>> Reference(short_answer="4,210 tonnes", relevant={"text1": 1}).relevant
    {'text1': 1}
    """

    answer: str | None = Field(default=None, description="the gold answer")
    short_answer: str | None = Field(default=None, description="the gold answer in a few words")
    alternatives: tuple[str, ...] = Field(default=(), description="other short answers that are as right")
    short_answers: tuple[tuple[str, ...], ...] = Field(
        default=(), description="of what an answer has to name, each in its wordings (ASQA)"
    )
    long_answers: tuple[str, ...] = Field(default=(), description="gold answers at length, any of which will do (ALCE)")
    claims: tuple[str, ...] = Field(default=(), description="what a right answer says, a claim each (ELI5)")
    explanation: str | None = Field(default=None, description="why the gold answer is right")
    addresses: tuple[str, ...] = Field(default=(), description="where a paper that is to be named is found (CiteME)")
    answer_format: AnswerFormat | None = Field(default=None, description="of the short answer")
    script_names: tuple[str, ...] | None = Field(
        default=None, description="gold items as the dataset's own script names them; None where it has none"
    )
    relevant: Mapping[str, int] | None = Field(
        default=None, description="gold items: id to grade, 1 where the dataset has no grades; 0 is judged irrelevant"
    )
    pages: tuple[int, ...] = Field(default=(), description="gold pages of the example's document, from 0")
    boxes: tuple[GoldBox, ...] = Field(default=(), description="where gold stands on pages")
    unusable_boxes: int = Field(
        default=0, description="how many others the dataset has that are reversed, without area or outside their page"
    )
    layouts: tuple[GoldLayout, ...] = Field(default=(), description="gold layout elements, to match retrieved quotes")
    regions: tuple[GoldRegion, ...] = Field(default=(), description="gold regions, where answers cite boxes (CiteVQA)")
    y_first: bool = Field(
        default=False, description="whether the dataset, and answers to it, write boxes y first: y1, x1, y2, x2"
    )


class Example(Record):
    """One line of a dataset.

    >>> reference = Reference(pages=(0,))
    >>> Example(id="1", query=Query(text="What went by rail?"), document="port.md", reference=reference).query.text
    'What went by rail?'
    """

    id: str = Field(description="unique in its dataset")
    query: Query = Field(description="the question")
    document: str | None = Field(default=None, description="the document it is asked of, where the dataset says")
    documents: tuple[str, ...] = Field(
        default=(), description="all documents it is asked of, as answers number them from 1; `document` if it is one"
    )
    subset: str | None = Field(
        default=None, description="the part of the dataset it belongs to, as the dataset names it"
    )
    year: int | None = Field(default=None, description="in which the document that it is from was published")
    address: str | None = Field(default=None, description="where the document that it is from is found")
    tags: tuple[str, ...] = Field(default=(), description="what the dataset says that it is about")
    domain: str | None = Field(default=None, description="kind of document, as the dataset names it")
    question_type: str | None = Field(default=None, description="as the dataset names it")
    evidence_types: tuple[str, ...] = Field(default=(), description="modalities of the evidence")
    context: Context | None = Field(default=None, description="the candidate quotes, where the dataset fixes them")
    choices: Mapping[str, str] = Field(default_factory=dict, description="letter to option, where there are any")
    task: Task = Field(default="answer", description="how a model is asked")
    sources: tuple[str, ...] = Field(
        default=(), description="ids of the context's quotes as the dataset lists them, kinds mixed; where it does"
    )
    reference: Reference = Field(description="what the dataset says is right")

    @property
    def cluster(self) -> str | None:
        """The document by which intervals group it: of several, that of the first gold region, else the first."""
        gold = next((region.document for region in self.reference.regions), None)
        return self.document or gold or next(iter(self.documents), None)


def question_hash(question: str, context: Context | None = None) -> str:
    """SHA-256 of a question and of the quotes shown with it; white space in the question is ignored."""
    shown = [(hit.quote.id, hit.quote.text, hit.quote.image) for hit in (context or Context()).hits]
    return hashlib.sha256(repr((question.split(), shown)).encode()).hexdigest()


class Spending(Record):
    """Tokens and price of all chat model calls for a question, including expansion, reranking and checks."""

    calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    estimated: int = Field(default=0, ge=0, description="calls whose tokens the endpoint did not count")
    price_usd: float | None = Field(default=0.0, ge=0, description="None where the price of a model is not known")

    def plus(self, other: "Spending") -> "Spending":
        """The sum of both; the price is None if either is unknown."""
        prices_known = self.price_usd is not None and other.price_usd is not None
        return Spending(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            estimated=self.estimated + other.estimated,
            price_usd=(self.price_usd or 0.0) + (other.price_usd or 0.0) if prices_known else None,
        )

    def minus(self, other: "Spending") -> "Spending":
        """The part of this that exceeds the other; no number of it is below zero."""
        prices_known = self.price_usd is not None and other.price_usd is not None
        return Spending(
            calls=max(0, self.calls - other.calls),
            input_tokens=max(0, self.input_tokens - other.input_tokens),
            output_tokens=max(0, self.output_tokens - other.output_tokens),
            estimated=max(0, self.estimated - other.estimated),
            price_usd=max(0.0, (self.price_usd or 0.0) - (other.price_usd or 0.0)) if prices_known else None,
        )


class Prediction(Record):
    """A configuration's output for one example: hits, context and the model's response, or the error.

    >>> Prediction(example="1", response="Timber [1].").error is None
    True
    """

    example: str = Field(description="id of the example")
    scope: Scope = Field(default="collection", description="what was searched; `context` is the example's own quotes")
    hits: tuple[Hit, ...] = Field(default=(), description="quotes that were found, best first")
    pages: tuple[PageHit, ...] = Field(default=(), description="pages that were found, best first")
    items: Mapping[str, float] = Field(
        default_factory=dict, description="a ranking that came without quotes (TREC): item to score, best first"
    )
    context: Context | None = Field(default=None, description="what the generator saw; None: the example's own")
    contexts: Mapping[str, Context] = Field(
        default_factory=dict,
        description="beside a ranking: what a generator would see, by size (`core.answers.CONTEXT_SIZES`)",
    )
    quote_boxes: Mapping[str, tuple[Box, ...]] | None = Field(
        default=None,
        description="where answers cite boxes: the context's quotes by id to the box of each and of its caption, in "
        "thousandths of the page",
    )
    gold_pages: tuple[PageBoxes, ...] | None = Field(
        default=None,
        description="where answers cite boxes: all quotes of the pages that hold gold; a page that is not here, the "
        "document lacks; one without boxes has no quotes, or is of a document that the collection lacks",
    )
    asked: str | None = Field(
        default=None,
        description="`question_hash` of what a file of answers repeats; None where it does not repeat its questions",
    )
    response: str | None = Field(default=None, description="what the model said, as it came; metrics read this")
    answer: Answer | None = Field(default=None, description="the checked answer that a user would see")
    paper_search: PaperSearch | None = Field(
        default=None, description="where a paper was to be named: how it was searched for; None where nothing was"
    )
    model: str | None = Field(default=None, description="who responded")
    usage: Usage = Field(default=Usage(), description="tokens of the answer's own call")
    spent: Spending | None = Field(default=None, description="for this question in all; None where nobody counted")
    seconds: float | None = Field(default=None, ge=0, description="from question to answer")
    cut_quotes: int = Field(default=0, ge=0, description="quotes cut to what the model can read")
    notes: tuple[str, ...] = Field(default=(), description="what went wrong in finding quotes, a sentence each")
    error: str | None = Field(default=None, description="set when it failed; a failure is never a wrong answer")


def failed_prediction(
    example: Example, scope: Scope, error: Exception, *, paper_search: PaperSearch | None = None
) -> Prediction:
    """Return the prediction that records an error; invalid characters in its message are replaced."""
    message = replace_lone_surrogates(error_reason(error))
    return Prediction(example=example.id, scope=scope, error=message, paper_search=paper_search)


def unusable_boxes_note(examples: Sequence[Example]) -> str:
    """A note on how many gold boxes of a dataset cannot contain anything; empty if there are none."""
    unusable = {
        example.id: example.reference.unusable_boxes for example in examples if example.reference.unusable_boxes
    }
    if not unusable:
        return ""
    return (
        f"{pluralize(sum(unusable.values()), 'gold box', 'gold boxes')} reversed, without area or outside the page, "
        f"such as of question {next(iter(unusable))!r}; left out of the figures of boxes"
    )
