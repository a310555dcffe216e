"""MCiteBench (arXiv 2503.02589): questions on research papers, each with pieces of evidence and distractors.

The items that a model is shown are numbered by kind: texts as `[1]`, pictures as `Figure 3`, tables as `Table 2`. The
example's quotes have these names, in the order of their numbers; `Example.sources` has them as the file lists them:
evidence, then distractors. Pictures are at `<pdf_id>/images/…`, as the authors publish them. Pages and boxes are not
given: quotes are on page 0 with the label `?`, in an empty box.

Its multiple-choice questions ask whether a model finds the source of an answer, or understands it.

`source` (section 5.3 RQ1, Tables 3 and 11): explanation questions with one piece of evidence; which of the five sources
contains what is asked for? `attribution` and `understanding` (its first version, section 5.3 RQ3, Table 3): Locating
questions with one piece of evidence; which of five sources is it, and which of four answers is right? Distractors are
those of the dataset, from the same paper, or drawn from other papers.

Files of responses have each line of the dataset again, with `response`.
"""

import random
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, JsonValue

from quoteweave.core.answers import Context
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction, Reference, question_hash
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.records import UNKNOWN_LABEL, Hit, Kind, Layout, Query, Quote
from quoteweave.evaluation.datasets.mmdocrag import NOWHERE
from quoteweave.evaluation.datasets.rows import FileRecord, as_list, iter_unique_records
from quoteweave.evaluation.metrics.answers.source_identification import LETTERS
from quoteweave.evaluation.metrics.gold import gold_items
from quoteweave.evaluation.text.source_marks import item_name

_GOLD, _EXPLANATION = "Gold", "explanation"
_TYPES = ("explanation", "locating")
_FIGURE, _TABLE = (lazy_regex(rf"{kind}\s*\d+", re.IGNORECASE) for kind in ("figure", "table"))


class _Shown(FileRecord):
    question_id: str
    pdf_id: str | None = None
    idx_2_text: Mapping[str, str] = {}
    idx_2_image: Mapping[str, str] = {}
    idx_2_table: Mapping[str, str] = {}


class _Line(_Shown):
    question: str
    question_type: str | None = None
    answer: Annotated[
        str | None,
        BeforeValidator(lambda written: "; ".join(map(str, written)) if isinstance(written, list) else written),
    ] = None
    evidence_keys: tuple[str, ...] = ()
    evidence_contents: tuple[str, ...] = ()
    evidence_count: int | None = None
    distractor_contents: tuple[str, ...] = ()
    evidence_modal: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    meta_data: Mapping[str, JsonValue] | None = None


def load_mcitebench(path: Path) -> list[Example]:
    """The questions of a file, in order. Locating questions have choices, and the right letter as the short answer.

    Raises DatasetError, naming file, line and field, for unreadable content, a repeated question, a type of question
    that the benchmark does not have, and evidence or distractors that are not among the items shown.
    """
    lines = iter_unique_records(path, _Line, "question_id")
    return [_example(line, f"{path}, line {number}") for number, line in lines]


def _example(line: _Line, where: str) -> Example:
    if line.question_type not in (None, *_TYPES):
        raise DatasetError(f"{where}, question_type: {line.question_type!r} is none of {', '.join(_TYPES)}")
    if line.evidence_count is not None and line.evidence_keys and line.evidence_count != len(line.evidence_keys):
        count = pluralize(len(line.evidence_keys), "piece is", "pieces are")
        raise DatasetError(f"{where}, evidence_count: {line.evidence_count}, where {count} named by evidence_keys")
    if not line.evidence_keys and (line.evidence_count or line.evidence_contents):
        raise DatasetError(f"{where}, evidence_keys: missing, where the line has evidence; is it another version?")
    meta = line.meta_data or {}
    right, why = meta.get(_GOLD), meta.get(_EXPLANATION)
    gold = tuple(_gold(line, where))
    return Example(
        id=line.question_id,
        query=Query(text=line.question),
        document=line.pdf_id,
        question_type=line.question_type,
        evidence_types=tuple("mixed" if modality == "mix" else modality for modality in line.evidence_modal),
        context=_context(line),
        choices={letter: str(text) for letter, text in meta.items() if len(letter) == 1},
        task="cite_sources",
        sources=tuple(_listed_sources(line, gold, where)),
        reference=Reference(
            answer=line.answer,
            short_answer=right if isinstance(right, str) else None,
            explanation=why if isinstance(why, str) else None,
            script_names=tuple(_script_names(line)),
            relevant=dict.fromkeys(gold, 1),
        ),
    )


def _shown_items(line: _Shown) -> Iterator[tuple[str, str, Layout]]:
    """Id, content and layout of all items shown, texts first, each kind in the order of its numbers."""
    yield from ((number, text, "paragraph") for number, text in _by_number(line.idx_2_text))
    yield from ((f"Figure {number}", path, "figure") for number, path in _by_number(line.idx_2_image))
    yield from ((f"Table {number}", path, "table") for number, path in _by_number(line.idx_2_table))


def _context(line: _Shown) -> Context:
    texts, images = (tuple(_ranked(line, kind)) for kind in ("text", "image"))
    return Context(texts=texts, images=images)


def _by_number(numbered: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(numbered.items(), key=lambda entry: (not entry[0].isdecimal(), len(entry[0]), entry[0]))


def _ranked(line: _Shown, kind: Kind) -> Iterator[Hit]:
    of_kind = [shown for shown in _shown_items(line) if (shown[2] == "paragraph") == (kind == "text")]
    for rank, (name, content, layout) in enumerate(of_kind, start=1):
        quote = Quote(
            id=name,
            document=line.pdf_id or "",
            page=0,
            page_label=UNKNOWN_LABEL,
            bbox=NOWHERE,
            kind=kind,
            layout=layout,
            text=content if kind == "text" else "",
            image=f"{(line.pdf_id or '.').removesuffix('.pdf')}/{content}" if kind == "image" else None,
        )
        yield Hit(rank=rank, score=1 / rank, quote=quote)


def _listed_sources(line: _Line, gold: tuple[str, ...], where: str) -> Iterator[str]:
    """Ids of the evidence, then of the distractors; none if the file does not list these."""
    by_content = {content: name for name, content, _ in _shown_items(line)}
    if not line.distractor_contents:
        return
    yield from gold
    for content in line.distractor_contents:
        if content not in by_content:
            raise DatasetError(f"{where}, distractor_contents: {content[:60]!r} is not among what is shown")
        yield by_content[content]


def _script_names(line: _Line) -> Iterator[str]:
    """Names of the evidence as the authors' script reads them: for pictures from the key, as written.

    Source: caiyuhu/MCiteBench at d9d41d3, evaluation/eval_citation_f1_source_f1_em/calculate_citation_source_score.py.
    """
    by_text = {text: number for number, text in line.idx_2_text.items()}
    for key, content in zip(line.evidence_keys, line.evidence_contents, strict=False):
        if not content.startswith("images/"):
            yield from [by_text[content]] if content in by_text else []
        elif named := _FIGURE.search(key) or _TABLE.search(key):
            yield named[0]


def _gold(line: _Line, where: str) -> Iterator[str]:
    """Ids of the evidence: by its content, or else by its key."""
    names = {name for name, _, _ in _shown_items(line)}
    by_content = {content: name for name, content, _ in _shown_items(line)}
    for position, key in enumerate(line.evidence_keys):
        content = line.evidence_contents[position] if position < len(line.evidence_contents) else None
        name = by_content.get(content or "", key)
        if name not in names:
            raise DatasetError(f"{where}, evidence_keys: {key!r} is not among what is shown")
        yield name


Probe = Literal["source", "attribution", "understanding"]
ASKED_OF: Mapping[Probe, str] = {"source": "explanation", "attribution": "locating", "understanding": "locating"}
"""The question type from which each kind of probe is made."""
OPTIONS = len(LETTERS)
_DRAWS = 50


def make_probes(examples: Sequence[Example], probe: Probe, *, unrelated: bool = False, seed: int = 0) -> list[Example]:
    """The probes of all examples that can be turned into one; their ids end with `:` and the probe's name.

    With `unrelated`, distractors are replaced by sources of the same layout from other papers of `examples`, drawn by
    `seed` and the question's id; texts take the numbers of those that they replace. Raises DatasetError if there are
    too few of these.
    """
    apt = [example for example in examples if _gold_source(example, ASKED_OF[probe]) is not None]
    if unrelated:
        pool = _by_layout(examples)
        apt = [with_unrelated_distractors(example, pool, seed=seed) for example in apt]
    if probe == "understanding":
        questions = [understanding_question(example) for example in apt]
    else:
        questions = [source_question(example, probe, seed=seed) for example in apt]
    return [question for question in questions if question is not None]


def source_question(
    example: Example, probe: Literal["source", "attribution"] = "source", *, seed: int = 0
) -> Example | None:
    """Turn a question of the probe's type with five quotes, one of which is gold, into a probe; None for others.

    `choices` are the letters A to E with the names of the quotes, in an order drawn from `seed` and the question's id;
    the gold answer is the letter of the right quote.
    """
    gold = _gold_source(example, ASKED_OF[probe])
    if gold is None:
        return None
    names = [item_name(quote.id) for quote in _quotes(example)]
    random.Random(f"{seed}:{example.id}").shuffle(names)
    right = LETTERS[names.index(gold)]
    reference = Reference(answer=right, short_answer=right, relevant={gold: 1})
    changed = {"choices": dict(zip(LETTERS, names, strict=True)), "task": "choose_source", "reference": reference}
    return example.model_copy(update={"id": f"{example.id}:{probe}", **changed})


def understanding_question(example: Example) -> Example | None:
    """Turn a Locating question with answers to choose from, and one gold source of five, into a probe; else None."""
    gold, right = _gold_source(example, ASKED_OF["understanding"]), example.reference.short_answer
    if gold is None or right not in example.choices:
        return None
    reference = Reference(answer=right, short_answer=right, relevant={gold: 1})
    changed = {"id": f"{example.id}:understanding", "task": "choose_answer", "reference": reference}
    return example.model_copy(update=changed)


def with_unrelated_distractors(example: Example, pool: Mapping[Layout, Sequence[Quote]], *, seed: int = 0) -> Example:
    """The example with each source that is not gold replaced by one of the same layout from another document.

    `pool` has the quotes to draw from, by layout. Raises DatasetError if none of them has an unused name.
    """
    context = example.context or Context()
    gold = gold_items(example) or frozenset()
    draw = random.Random(f"{seed}:{example.id}:unrelated")
    drawn: dict[str, Quote] = {}
    gold_ids = {quote.id for quote in _quotes(example) if item_name(quote.id) in gold}
    for quote in _quotes(example):
        if item_name(quote.id) in gold:
            continue
        free = {*gold_ids, *(replacement.id for replacement in drawn.values())}
        distractor = _draw_distractor(draw, pool.get(quote.layout, ()), example.document, free)
        if distractor is None:
            raise DatasetError(
                f"question {example.id!r}: no other paper of the file has a {quote.layout} that can stand for "
                f"{quote.id}; give the whole file, not a part of it"
            )
        drawn[quote.id] = distractor.model_copy(update={"id": quote.id}) if quote.kind == "text" else distractor
    texts, images = (tuple(_with_replacement(hit, drawn) for hit in hits) for hits in (context.texts, context.images))
    sources = tuple(drawn[name].id if name in drawn else name for name in example.sources)
    return example.model_copy(update={"context": Context(texts=texts, images=images), "sources": sources})


def _gold_source(example: Example, question_type: str) -> str | None:
    """The gold item of a question of that type with five sources, one of which is gold; else None."""
    gold, names = gold_items(example), [item_name(quote.id) for quote in _quotes(example)]
    apt = example.question_type == question_type and len(names) == len(set(names)) == OPTIONS
    return next(iter(gold)) if apt and gold is not None and len(gold) == 1 and gold.issubset(names) else None


def _quotes(example: Example) -> list[Quote]:
    context = example.context or Context()
    return [hit.quote for hit in context.hits]


def _by_layout(examples: Iterable[Example]) -> dict[Layout, list[Quote]]:
    pool: defaultdict[Layout, list[Quote]] = defaultdict(list)
    for example in examples:
        for quote in _quotes(example):
            pool[quote.layout].append(quote)
    return dict(pool)


def _draw_distractor(
    draw: random.Random, pool: Sequence[Quote], document: str | None, used_names: Container[str]
) -> Quote | None:
    """A random quote of another document, for a picture one whose name is unused; None if there is none."""

    def fits(quote: Quote) -> bool:
        return quote.document != document and (quote.kind == "text" or quote.id not in used_names)

    for _ in range(_DRAWS if pool else 0):
        if fits(candidate := draw.choice(pool)):
            return candidate
    fitting = [quote for quote in pool if fits(quote)]
    return draw.choice(fitting) if fitting else None


def _with_replacement(hit: Hit, drawn: Mapping[str, Quote]) -> Hit:
    return hit.model_copy(update={"quote": drawn[hit.quote.id]}) if hit.quote.id in drawn else hit


class _ResponseLine(_Shown):
    # The dataset's other fields, and those that its evaluation adds, are not read here.
    question: str | None = None
    response: str | None = None


def _asked_hash(line: _ResponseLine) -> str | None:
    """The question of a line; None for a line that does not repeat what was shown."""
    context = _context(line)
    return question_hash(line.question, context) if line.question and context.hits else None


def load_mcitebench_responses(path: Path) -> list[Prediction]:
    """One prediction per line, over the dataset's own items; the model is the file's name without suffixes.

    Raises DatasetError, naming file, line and field, for unreadable content.
    """
    model = path.name.removesuffix(".gz").removesuffix(".jsonl")
    return [
        Prediction(
            example=line.question_id,
            scope="context",
            asked=_asked_hash(line),
            response=line.response,
            model=model,
            error="no response" if line.response is None else None,
        )
        for _, line in iter_records(path, _ResponseLine)
    ]
