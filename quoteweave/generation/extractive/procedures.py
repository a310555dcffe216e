"""Answer questions for a procedure by the steps under a matching heading, given as a list.

The steps of a manual seldom mention their aim, such as "to replace the strap"; the heading above them does, or a line
that introduces them ("To force an application to quit:"). Of the quotes that were found, those under one heading form a
section. A section answers the question where its heading, with the document's name, has what the question is about, and
where it consists of steps: items of a list, numbered lines, instructions, commands or code. If only the document's name
has it ("How do I make lentil soup?", `lentil-soup.md`), its only section of steps answers. Code is under its step.

What is not so or must not be done ("What must never be done?") is answered by the lists that a sentence or a heading
introduces as such (`sentence_kinds`): by whole lists, or by those items that are about what is asked.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import BODY_LAYOUTS, Quote
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.core.text.tokens import name_words, words
from quoteweave.generation.answer_text import add_mark, escape_marks, is_code, is_plainly_code, join_with_and, tidy
from quoteweave.generation.extractive.acts.instructions import are_instructions, does_it_to_another_thing, is_spread
from quoteweave.generation.extractive.asked_headings import is_about_something_else, of_each_document, words_of_manual
from quoteweave.generation.extractive.composition import compose_introduced, more_note, number_shown, sources_sentence
from quoteweave.generation.extractive.statements import (
    IntroducedPart,
    NumberedHit,
    introduced_parts,
    is_headed_by,
    position_in_document,
    split_items,
)
from quoteweave.generation.relevance import QuestionTerms, WeighedQuestion, adjacency, coverage, says_all, subject_terms
from quoteweave.generation.sentence_kinds import (
    INSTRUCTION,
    denies,
    denying_hit,
    heading_denies,
    introduces_denied,
    without_denied,
)
from quoteweave.generation.sentences import split_sentences

MIN_NAMED = 0.85
"""Least share of the question's weight that a heading contains together with the document's name."""
MIN_IN_HEADING = 0.6
"""Least share that the heading contains by itself."""
MIN_ITEMS = 2
"""Least number of numbered lines, or of list items at least half of which are instructions, to count as steps."""
MAX_LISTS = 3
"""The most lists of what is denied, or procedures of several documents, in an answer."""

# "2 eggs" and "12 V" are no steps.
_STEP = lazy_regex(r"\s*\(?(?P<number>\d{1,2})(?:[.):]\s*(?=[^\W\d_])|\s+(?=[A-ZÀ-Þ][a-zà-þ]))")
_INNER_STEP = lazy_regex(r"(?<=[.!?])\s+(?=\d{1,2}[.)]?\s+[A-ZÀ-Þ][a-zà-þ])")
# Bullets of symbol fonts, which have no character of their own: "\x99 Fill the tank \x99 Press Start".
_INNER_ITEM = lazy_regex(r"(?<=\s)(?=[\x80-\x9f\ue000-\uf8ff]\s)")
# The beginning of a paragraph that continues an item, and is neither an address nor a unit.
_GOES_ON = lazy_regex(r"[a-zß-ÿ][^\W\d_]*(?:['’-][^\W\d_]+)*[,;.]?(?:\s(?!\d)|$)")
_INTRODUCED = lazy_regex(r"((?:To|How to)\s.{1,150}?)\s*:")
_AIM_OR_PROHIBITION = lazy_regex(r"\W*(?:(?P<aim>To\s)|(?:do not|don[’']t|never)\b)", re.IGNORECASE)
_ASKS_LIST = lazy_regex(r"what\s+(?:are|were)\s+|which\s+[\w-]+s\s+(?:are|were)\s+there\b", re.IGNORECASE)
_ITEM = lazy_regex(r"\s*(?:[•◦▪■●‣⁃·*–—>Â\x80-\x9f\ue000-\uf8ff-]|[a-z][.)])\s+")
_OPENS = lazy_regex(f"{_STEP.pattern}|{_ITEM.pattern}")


@dataclass(frozen=True, slots=True)
class Step:
    """One step, in the words of its document."""

    text: str
    marks: tuple[int, ...]
    """Numbers in the context of the text quotes that hold it."""
    number: int | None = None
    """Its number in the document."""
    is_item: bool = False
    """Whether it is formatted as an item of a list."""
    code: tuple[IntroducedPart, ...] = ()
    """The code that follows it."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers in the context of all quotes that hold it, code included."""
        return (*self.marks, *(part.number for part in self.code))


@dataclass(frozen=True, slots=True)
class Procedure:
    """The steps under one heading, in order."""

    heading: str
    steps: tuple[Step, ...]
    quotes: tuple[Quote, ...]
    """The quotes that hold the steps."""
    introducing: int | None = None
    """Number in the context of the text whose last sentence is the heading; None for a heading above the quotes."""

    @property
    def document(self) -> str:
        """The name of the document that it comes from."""
        return self.quotes[0].document


def find_procedures(weighed: WeighedQuestion, context: Context, limit: int) -> list[Procedure]:
    """Find the procedures, or the lists, that the question asks for, best first; none if it asks what a thing is.

    Each of several procedures is of another document with the same heading. Each step is cut to `limit` characters.
    """
    question = weighed.terms
    if question.analysis.asks_denied:
        return _find_denied(question, context, limit)
    if not weighed.weights or question.asks == "definition":
        return []
    if question.asks != "steps":
        return _find_listed(question, context, limit) if _ASKS_LIST.match(question.text) else []
    return _find_steps(question, weighed.weights, context, limit)


def may_go_on(procedures: Sequence[Procedure], context: Context) -> bool:
    """Whether a section of these may have more steps, because some of its texts were not found."""
    return any(quote.id in context.cut_sections for procedure in procedures for quote in procedure.quotes)


def _find_steps(question: QuestionTerms, weights: Mapping[str, float], context: Context, limit: int) -> list[Procedure]:
    subject = subject_terms(question)
    total = coverage(weights, subject)
    weights = {word: weights[word] / total for word in subject if word in weights} if total else weights
    ranked: list[tuple[tuple[float, ...], Procedure]] = []
    by_name: list[Procedure] = []
    for heading, hits in _sections(context):
        if not hits or is_spread(heading, subject) or is_about_something_else(question.text, heading):
            continue
        heading_words = with_words_alike(frozenset(words(heading)), question.terms)
        known_words = words_of_manual(hits[0].quote.document, heading, question, context)
        with_known = heading_words | known_words
        # "How do I reset the router?" in the manual of the router asks for the heading "Resetting".
        new_words = weights.keys() - known_words
        heads = coverage(weights, heading_words) >= MIN_IN_HEADING or (new_words and new_words <= heading_words)
        if not (heads or not new_words) or coverage(weights, with_known) < MIN_NAMED:
            continue
        if does_it_to_another_thing(heading, question, known_words):
            continue
        steps = _extract_steps(hits, limit)
        quotes = tuple(hit.quote for number, hit in hits if any(number in step.numbers for step in steps))
        if steps and not heads:
            by_name.append(Procedure(heading, tuple(steps), quotes))
        elif steps:
            # "Take a scrolling screenshot" does not answer "How to take a screenshot".
            nearest = adjacency(question, words(heading)), -len(heading_words.difference(weights))
            worth = (coverage(weights, with_known), *nearest, max(hit.score for _, hit in hits))
            ranked.append((worth, Procedure(heading, tuple(steps), quotes)))
    if not ranked and len(by_name) == 1 and len(by_name[0].steps) >= MIN_ITEMS:
        return by_name
    ranked.sort(key=lambda entry: entry[0], reverse=True)
    tied = [procedure for worth, procedure in ranked if worth[:-1] == ranked[0][0][:-1]]
    return of_each_document((best.document, tuple(step.text for step in best.steps), best) for best in tied)


def _find_listed(question: QuestionTerms, context: Context, limit: int) -> list[Procedure]:
    """Find the list under the heading that a question asks for: "What are the ownership rules?"."""
    for heading, hits in _sections(context):
        lists = [numbered for numbered in hits if numbered.quote.layout == "list"]
        if lists and is_headed_by(lists[0].quote, question):
            items = [part for number, hit in lists for part in _split_into_steps(hit.quote, number, limit)]
            if len(items) >= MIN_ITEMS:
                return [Procedure(heading, tuple(items), tuple(hit.quote for _, hit in lists))]
    return []


def _find_denied(question: QuestionTerms, context: Context, limit: int) -> list[Procedure]:
    """Find the lists of what is denied or prohibited, the best first; items that lack the subject are left out.

    All are of one document. A list is whole if the text or heading above it, or the document's name, has the subject.
    """
    subject, scored_lists = question.subject, list[tuple[float, Procedure]]()
    for score, procedure in _denied_lists(context, limit):
        quote = procedure.quotes[0]
        above = (*words(f"{procedure.heading}\n{quote.section or ''}"), *name_words(quote.document))
        missing_words = subject - with_words_alike(frozenset(above), subject)
        steps = tuple(step for step in procedure.steps if says_all(words(step.text), missing_words))
        if steps:
            scored_lists.append((score - len(missing_words), replace(procedure, steps=steps)))
    ranked = [scored for _, scored in sorted(scored_lists, key=lambda scored: -scored[0])]
    return [procedure for procedure in ranked if procedure.document == ranked[0].document][:MAX_LISTS]


def _denied_lists(context: Context, limit: int) -> Iterable[tuple[float, Procedure]]:
    """The lists that a sentence or heading introduces as denied, with the score of what introduces them."""
    sections: defaultdict[tuple[str, str], list[NumberedHit]] = defaultdict(list)
    for number, hit in enumerate(context.texts, start=1):
        quote = hit.quote
        for at, sentence in enumerate(split_sentences(quote.text)):
            parts = introduced_parts(quote, number, context, at) if introduces_denied(sentence.text) else []
            steps = tuple(Step(part.text, (part.number,)) for part in parts if part.kind == "text")
            if steps:
                quotes = tuple(dict.fromkeys([quote, *(context.texts[step.marks[0] - 1].quote for step in steps)]))
                yield hit.score, Procedure(tidy(sentence.text, limit), steps, quotes, number)
        if quote.section and heading_denies(quote.section) and quote.layout == "list":
            sections[quote.document, quote.section].append(NumberedHit(number, hit))
    for (_, heading), hits in sections.items():
        steps = tuple(step for number, hit in _in_order(hits) for step in _split_into_steps(hit.quote, number, limit))
        title = " ".join(heading.split())
        yield max(hit.score for _, hit in hits), Procedure(title, steps, tuple(hit.quote for _, hit in _in_order(hits)))


def compose_procedures(procedures: Sequence[Procedure], context: Context) -> str:
    """Compose each heading with its cited steps, and the sentence on their sources."""
    texts, several = list[str](), len({procedure.document for procedure in procedures}) > 1
    for procedure in procedures:
        before = sum(len(text.split()) for text in texts)
        texts.append(_compose_procedure(procedure, context, before, names_document=several))
    return "\n\n".join([*texts, sources_sentence(quote for procedure in procedures for quote in procedure.quotes)])


def _compose_procedure(procedure: Procedure, context: Context, before: int, *, names_document: bool) -> str:
    """Compose the heading, the cited steps, and a note on missing ones; a step that is its heading stands alone.

    `before` is the number of words in front of it.
    """
    first = procedure.quotes[0]
    of = f" of {escape_marks(first.document)}" if names_document else ""
    of += f" ({first.place})" if first.has_pages else ""
    is_heading = [step.text.rstrip(" :：") for step in procedure.steps] == [procedure.heading]
    heading = f"Under “{escape_marks(procedure.heading)}”{of}:"
    if procedure.introducing is not None:
        heading = add_mark(procedure.heading, f"[{procedure.introducing}]")
    lines = [] if is_heading else [heading, ""]
    steps_shown = number_shown([step.text for step in procedure.steps], before)
    for step in procedure.steps[:steps_shown]:
        start = f"{step.number}. " if step.number is not None else "" if is_heading else "- "
        lines += [f"{start}{add_mark(step.text, str(list(step.marks)))}"] if step.text else []
        lines += ["", compose_introduced(step.code, context), ""] if step.code else []
    lines = lines[:-1] if not lines[-1] else lines
    if steps_left := len(procedure.steps) - steps_shown:
        lines += ["", more_note(steps_left, "items" if procedure.introducing is not None else "steps")]
    elif missing := _missing_numbers(procedure.steps):
        several = len(missing) > 1
        subject = f"Steps {join_with_and(list(map(str, missing)))} were" if several else f"Step {missing[0]} was"
        lines += ["", f"{subject} not found."]
    return "\n".join(lines)


def _sections(context: Context) -> Iterable[tuple[str, list[NumberedHit]]]:
    """Group text quotes by their headings, and by introduced aims ("To replace it:").

    A heading that occurs at two places of a document gives two sections.
    """
    sections: defaultdict[tuple[str, str], list[NumberedHit]] = defaultdict(list)
    for number, hit in enumerate(context.texts, start=1):
        if not hit.quote.section or hit.quote.layout not in BODY_LAYOUTS:
            continue
        if denying_hit(hit.quote, context) is None and not heading_denies(hit.quote.section):  # what must not be done
            sections[hit.quote.document, hit.quote.section].append(NumberedHit(number, hit))
    for (_, heading), hits in sections.items():
        title, page, section_hits = " ".join(heading.split()), 0, list[NumberedHit]()
        for number, hit in _in_order(hits):
            introduced = _INTRODUCED.fullmatch(" ".join(hit.quote.text.split()))
            code = _introduced_code(hit.quote, number, context) if introduced else []
            if introduced and code:  # what is introduced is no section of steps, but the one command
                yield introduced[1], [NumberedHit(number, hit), *code]
                introduced = None
            if introduced or hit.quote.page > page + 1:
                yield title, section_hits
                title, section_hits = introduced[1] if introduced else " ".join(heading.split()), []
            page = hit.quote.page
            if not introduced:
                section_hits.append(NumberedHit(number, hit))
        yield title, section_hits


def _in_order(hits: Sequence[NumberedHit]) -> list[NumberedHit]:
    return sorted(hits, key=lambda numbered: position_in_document(numbered.quote))


def _introduced_code(quote: Quote, number: int, context: Context) -> list[NumberedHit]:
    """The code that a text introduces; empty if it introduces something else."""
    parts = introduced_parts(quote, number, context)
    are_code = bool(parts) and parts[0].form == "code" and all(part.kind == "text" for part in parts)
    return [NumberedHit(part.number, context.texts[part.number - 1]) for part in parts] if are_code else []


def _extract_steps(hits: Sequence[NumberedHit], limit: int) -> list[Step]:
    """Extract steps in order: numbered ones, else a list's items if mostly instructions, else instructions and code."""
    parts: list[Step] = []
    for number, hit in hits:
        if _is_code(hit.quote, parts[-1:]):
            code = IntroducedPart(kind="text", number=number, text=hit.quote.text, form="code")
            last = parts.pop() if parts else Step("", ())
            parts.append(replace(last, code=(*last.code, code)))
        else:
            parts += _split_into_steps(hit.quote, number, limit)
    numbered = _numbered_steps(parts)
    lines = [part for part in numbered if part.number is not None]
    if (
        len(lines) >= MIN_ITEMS
        and len(_missing_numbers(numbered)) <= len(numbered)
        and (any(part.code for part in lines) or are_instructions([part.text for part in lines]))
    ):
        return numbered
    plain = [replace(part, number=None) for part in parts]
    items = [part for part in _with_ends(plain) if part.is_item]
    mostly = 2 * sum(INSTRUCTION.match(part.text) is not None for part in items) >= len(items)
    if len(items) >= MIN_ITEMS and mostly:
        return items
    # What a section begins with is its own way to do it; a command further down may be for something else.
    return list(filter(_instructs, plain)) if plain and (_instructs(plain[0]) or not any(s.code for s in plain)) else []


def _is_code(quote: Quote, before: Sequence[Step]) -> bool:
    """Whether a paragraph is code; on pages, whose lines may be cut anywhere, only if introduced, or plainly code."""
    introduced = not quote.has_pages or any(introduces(step.text) for step in before)
    return quote.layout == "paragraph" and (is_code(quote.text) if introduced else is_plainly_code(quote.text))


def _instructs(part: Step) -> bool:
    """Whether an unnumbered part is a step: an instruction, what introduces code, or code alone under its heading."""
    if part.code and (not part.text or introduces(part.text)):
        return True
    if is_code(part.text):
        return False
    aims = _AIM_OR_PROHIBITION.match(part.text)
    return INSTRUCTION.match(part.text) is not None and (not aims or bool(part.code and aims["aim"]))


def _missing_numbers(steps: Sequence[Step]) -> list[int]:
    """The numbers of steps that are missing, up to the last one present."""
    numbers = {step.number for step in steps if step.number is not None}
    return sorted(set(range(1, max(numbers, default=0) + 1)) - numbers)


def _numbered_steps(parts: Sequence[Step]) -> list[Step]:
    """Numbered parts as long as the numbers rise, each with the unnumbered parts before the next number."""
    run: list[Step] = []
    between: list[Step] = []
    for part in parts:
        if part.number is None:
            goes_on = part.text[:1].islower() and not between and run and not run[-1].text.endswith((".", "!", ":"))
            if goes_on:
                run[-1] = _join_steps(run[-1], [part])
            else:
                between.append(part)
            continue
        last = next((step.number for step in reversed(run) if step.number is not None), None)
        if last is not None and part.number <= last:
            break
        if run and part.number == (last or 0) + 1:
            if any(step.code for step in (run[-1], *between)):
                run += between  # in their order: code stands under the text that it belongs to
            else:
                run[-1] = _join_steps(run[-1], between)
        run.append(part)
        between = []
    return run


def _join_steps(step: Step, parts: Sequence[Step]) -> Step:
    marks = tuple(dict.fromkeys(mark for part in (step, *parts) for mark in part.marks))
    return replace(step, text=" ".join(part.text for part in (step, *parts)), marks=marks)


def _with_ends(parts: Sequence[Step]) -> list[Step]:
    """Items with the paragraphs that continue them, which begin with a small letter; other parts as they are."""
    joined: list[Step] = []
    for part in parts:
        last = joined[-1] if joined else None
        goes_on = part.number is None and not part.is_item and _GOES_ON.match(part.text) and not denies(part.text)
        if last is not None and last.is_item and goes_on and not last.text.endswith((".", "!", ":")):
            joined[-1] = _join_steps(last, [part])
        else:
            joined.append(part)
    return joined


def _split_into_steps(quote: Quote, number: int, limit: int) -> list[Step]:
    """Split a list into its items, with continuation lines joined, and other text before numbered steps."""
    allowed, steps = without_denied(quote.text), list[Step]()
    is_list = quote.layout == "list"
    texts = split_items(allowed, lambda line: _OPENS.match(line) is not None) if is_list else _split_text(allowed)
    for text in texts:
        step = _STEP.match(text)
        begun = step or _ITEM.match(text)
        bare = tidy(text[begun.end() :] if begun else text, limit)
        if bare:
            counted = int(step["number"]) if step else None
            steps.append(Step(bare, (number,), counted, is_item=begun is not None or is_list))
    return steps


def _split_text(text: str) -> list[str]:
    """Split running text at numbers of steps and at bullets; an instruction before the first bullet gets one, too."""
    texts: list[str] = []
    for step in _INNER_STEP.split(text):
        first, *items = _INNER_ITEM.split(step)
        lacks_bullet = items and INSTRUCTION.match(first) and not _OPENS.match(first)
        texts += [f"• {first}" if lacks_bullet else first, *items]
    return texts
