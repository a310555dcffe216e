"""Answer without a generative model, by the documents' own sentences, or by places to look at where none answers.

1. The question's words are weighted by their rarity (`relevance`).
2. Each sentence of a text quote is a statement, and so are the cells of a table that the question names, and the
   sentences in a picture (`statements`). Those that answer the question (`answer_criteria`) are scored by how much of
   it they cover; the best are chosen without repetition (`selection`) and put in order: the best quote first, then the
   others of its document from front to back (`composition`). The answer is `answered`. For a question that asks for
   steps, those under the matching heading are given as a list (`procedures`). A compound question ("How many … , and
   why …?") is answered part by part, and for a part without an answer the best place is shown.
   A question about what the document consists of is answered from what was counted in it (`structure_answer`).
3. Where no statement answers, the best quote of each of the best pages is shown with an excerpt (`locating`). The
   answer is `located`; or it abstains where what was found is about something else (`topic`).

Each sentence and place is cited. A sentence is repeated as it is written, except for text that looks like an answer's
mark (`answer_text`). The rules match words, not meaning: how often they answer, and how often correctly, is measured by
`benchmarks/answers.py`. With a model that scores sentences, those that answer are put in the model's order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quoteweave.core.answers import EXTRACTIVE, NO_TOKENS, Answer, Context
from quoteweave.core.concurrency.pools import run_inline_if_short
from quoteweave.core.protocols import SentenceScorer
from quoteweave.core.records import Kind, Query
from quoteweave.core.text.question_analysis import analyse_question
from quoteweave.core.text.whole_document.front_matter_questions import read_front_matter_request
from quoteweave.core.text.whole_document.structure_questions import read_structure_request, states_number
from quoteweave.generation.citations import abstention, build_answer, with_citations
from quoteweave.generation.extractive.asked_headings import first_statements, headed_statements, keep_uses_of_thing
from quoteweave.generation.extractive.composition import compose, compose_further_places, compose_places
from quoteweave.generation.extractive.criteria.criteria_by_document import CriteriaByDocument
from quoteweave.generation.extractive.locating import LocatedQuote, find_places
from quoteweave.generation.extractive.named.unsaid_words import missing_labels
from quoteweave.generation.extractive.procedures import MAX_LISTS, compose_procedures, find_procedures, may_go_on
from quoteweave.generation.extractive.question_wording import about_the_document, in_words_of
from quoteweave.generation.extractive.selection import (
    SentenceScores,
    StatementCoverage,
    choose_statements,
    keep_best_document,
    merge_scores,
    score_sentences,
    score_statement,
    sentence_key,
)
from quoteweave.generation.extractive.several_documents.comparison import is_contrary_of, states_otherwise
from quoteweave.generation.extractive.several_documents.other_documents import (
    documents_answering_otherwise,
    documents_asking_too,
    documents_bearing_otherwise,
    documents_stating_otherwise,
    further_answers,
    other_documents_note,
)
from quoteweave.generation.extractive.statements import Statement, caption_statements
from quoteweave.generation.extractive.tables.agreement import split_by_agreement
from quoteweave.generation.extractive.tables.asked_rows import asks_below_uncertain_head
from quoteweave.generation.extractive.tables.picture_statements import (
    RowsOfImages,
    ambiguous_rows,
    find_rows,
    make_statements,
)
from quoteweave.generation.extractive.topic import abstention_reasons, is_on_topic, language_difference
from quoteweave.generation.extractive.whole_document.front_matter_answer import (
    front_matter_answer,
    front_matter_located,
)
from quoteweave.generation.extractive.whole_document.structure_answer import structure_answer
from quoteweave.generation.gate.dates import months_within
from quoteweave.generation.relevance import (
    QuestionTerms,
    WeighedQuestion,
    parts_of,
    question_terms,
    weigh_terms,
    words_with_headings,
)
from quoteweave.generation.sentences import text_of

COMPUTED_REASON = "The table's numbers were compared; it does not say this itself."
DISAGREEMENT_WARNING = "The documents give different {} here: compare what they say."
OWN_DISAGREEMENT = "The document gives different numbers here: compare what its sentences say."
UNCERTAIN_HEAD = (
    "A row of years in this table may be the head of those below it: see on the page what years they are of."
)
TABLES_DIFFER = "Rows of this name have different values here: compare what they are of."
SECTION_GOES_ON = "The section that answers this has more than is shown here: read on at its page or heading."
STEPS_GO_ON = "The section may have more steps than were found: read on at its page or heading."
NOUN_OF_DISAGREEMENT: Mapping[str, str] = {"date": "dates", "person": "names"}
"""What documents disagree on, by what a question asks for; numbers for all other kinds."""
WHICH_DOCUMENT = (
    "Which document is meant? A question about a document as a whole is answered within one: name it, or ask within it."
)
OTHER_LANGUAGE = "The question seems to be in {}, and what was found in {}: only names and numbers were looked for."
NOTHING_FOUND = "What was found in the documents seems to be about something else."
NOTHING_ON_PART = "What was found seems to be about something else than a part of the question: “{}”."
NOTHING_SEARCHED = "There are no words to search: no document was added, or the pages asked for have none."


def off_topic_abstention(question: str, context: Context) -> Answer | None:
    """Return an abstention if what was found is about something else (`topic`); None if it is about the question."""
    terms = question_terms(in_words_of(context, question))
    if is_on_topic(terms, context):
        return None
    text = NOTHING_SEARCHED if context.variety == 0 else NOTHING_FOUND
    return abstention(question, text, model=EXTRACTIVE, warnings=abstention_reasons(terms, context, question))


NO_SCORES = SentenceScores(of={})


@dataclass(frozen=True, slots=True)
class QuestionPart(WeighedQuestion):
    """A question, or one of its parts, that is to be answered."""

    scores: SentenceScores = NO_SCORES
    """The scores of sentences that may answer it, by the model that scores sentences, if there is one."""


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """A part of a question with the statements that answer it, if there are any."""

    question: QuestionPart
    statements: Sequence[Statement]
    differs: bool
    """Whether documents state different things, or one does."""
    has_more: bool
    """Whether the section that answers it has more statements than these."""
    differing: Sequence[Statement] = ()
    """Cells of tables that give different values for what it asks, so that none of them answers it."""
    otherwise: Sequence[str] = ()
    """The documents that say something else, but are not shown."""


class ExtractiveGenerator:
    """The generator without a generative model: deterministic, and limited to what the quotes state.

    >>> rag = Rag(LexicalRetriever(collection), ExtractiveGenerator(max_sentences=1, max_images=0))
    >>> rag.answer("What went by rail?").text.splitlines()[0]
    'Timber went by rail [1].'
    """

    def __init__(
        self,
        *,
        max_sentences: int = 3,
        max_images: int = 2,
        max_characters: int = 350,
        keep: float = 0.75,
        scorer: SentenceScorer | None = None,
    ) -> None:
        """Configure answers that are `answered`; limits apply to each part of a compound question.

        `max_sentences`: sentences from text quotes. `max_images`: images quoted or shown. `max_characters`: length of a
        sentence; longer ones are cut after a clause. `keep`: share of the best score below which a statement is left
        out. `scorer`: a model that scores sentences; None scores them by the words that they share with the question.
        """
        self.max_sentences = max_sentences
        self.max_images = max_images
        self.max_characters = max_characters
        self.keep = keep
        self.scorer = scorer

    def early_abstention(self, question: str, context: Context) -> Answer | None:
        """Return the abstention that `answer` gives if what was found is about something else; otherwise None.

        In that case a generative model need not be asked, either. A sentence that answers the question counts as being
        about it, however rare its words are.
        """
        reworded = about_the_document(context, question)
        nothing = None if context.front_matter else off_topic_abstention(reworded, context)
        if nothing is None:
            return None
        parts = self._split_question(reworded, context)
        answered = not isinstance(parts, Answer) and any(self._answer_part(part, context).statements for part in parts)
        if answered or (isinstance(parts, Answer) and parts.status == "answered"):
            return None
        return nothing.model_copy(update={"question": question})

    async def answer(self, query: Query, context: Context) -> Answer:
        """Return an answer from statements, one that shows places, or an abstention; it takes no tokens.

        Raises what the model that scores sentences raises.
        """
        answer = await self._answer(about_the_document(context, query.text), context)
        return answer.model_copy(update={"question": query.text, "usage": NO_TOKENS})

    async def _answer(self, question: str, context: Context) -> Answer:
        parts = await run_inline_if_short("answer", question, self._split_question, question, context)
        if isinstance(parts, Answer):
            return parts
        scored = [replace(part, scores=await self._sentence_scores(part, context)) for part in parts]
        return await run_inline_if_short("answer", question, self._compose, question, context, scored)

    def _split_question(self, question: str, context: Context) -> Answer | list[QuestionPart]:
        """Return the parts of a question with the weights of their words, or an answer that needs no sentences."""
        if context.structure is not None:
            return structure_answer(question, context, context.structure, EXTRACTIVE)
        if (front := front_matter_answer(question, context, EXTRACTIVE)) is not None:
            return front
        if context.variety != 0 and _asks_of_several_documents(question, context):
            return abstention(question, WHICH_DOCUMENT, model=EXTRACTIVE)
        # The sentence that a model ranks first may have few of the question's words, so it does not show the topic.
        if self.scorer is not None and (nothing := off_topic_abstention(question, context)) is not None:
            return nothing
        quote_words, question_parts = _quote_words(context), parts_of(in_words_of(context, question))
        parts = [QuestionPart(part, weigh_terms(part, quote_words, context.rarity)) for part in question_parts]
        first = parts[0]
        steps = find_procedures(first, context, self.max_characters) if len(parts) == 1 else []
        if not steps:
            return parts
        shown = steps[:MAX_LISTS]
        text, goes_on = compose_procedures(shown, context), (STEPS_GO_ON,) if may_go_on(shown, context) else ()
        also_asking = documents_asking_too(first, context, steps, self.max_characters)
        warnings = (*goes_on, *other_documents_note(also_asking))
        return build_answer(question, text, context, model=EXTRACTIVE, warnings=warnings, status="answered")

    def _compose(self, question: str, context: Context, parts: Sequence[QuestionPart]) -> Answer:
        """Return the answer of the statements that answer each part, or else of the places that bear on the whole.

        Statements that answer the question are about it, however rare its words are in the collection.
        """
        answered = [self._answer_part(part, context) for part in parts]
        if not any(part.statements for part in answered):
            nothing = off_topic_abstention(question, context)
            front = front_matter_located(question, context, EXTRACTIVE, found_elsewhere=nothing is None)
            scores = merge_scores([part.scores for part in parts])
            return front or nothing or _located_answer(question, context, scores, answered)
        statements = [statement for part in answered for statement in part.statements]
        unique = list({(statement.quote.id, statement.text): statement for statement in statements}.values())
        unanswered = [part.question for part in answered if not part.statements]
        known = [part for part in unanswered if is_on_topic(part.terms, context) or not part.terms.is_question]
        places_text = compose_further_places(_best_places(known, context, unique))
        text = compose(unique, context, max_images=self.max_images, unanswered_text=places_text)
        unknown = [NOTHING_ON_PART.format(part.terms.text.rstrip("?")) for part in unanswered if part not in known]
        warnings = (*_warnings(answered), *unknown)
        return _mark_computed(build_answer(question, text, context, model=EXTRACTIVE, warnings=warnings), unique)

    def _answer_part(self, part: QuestionPart, context: Context) -> AnsweredPart:
        """Choose the statements that answer a part, all of one document unless others say something else."""
        rows, sections, has_more = find_rows(part, context), list[list[Statement]](), False
        statements = make_statements(part, context, rows, self.max_characters)
        differing, good = list[Statement](), list[Statement]()
        if captioned := caption_statements(part.terms, context):
            chosen = captioned
        elif sections := headed_statements(statements, part.terms, context):
            chosen, has_more = first_statements(sections[:MAX_LISTS])
            good = [statement for section in sections for statement in section]
        else:
            chosen, differing, good = self._choose(statements, part, context, rows)
        shown, differs = keep_best_document(chosen, part.terms)
        shown = chosen if len(sections) > 1 else shown
        if shown and good and context.further:
            good += further_answers(part, context, self.max_characters)
        otherwise = documents_stating_otherwise(shown, good, part.terms, by_heading=bool(sections)) if shown else []
        if sections:
            otherwise += documents_answering_otherwise(shown, statements, part, context)
        return AnsweredPart(part, shown, differs=differs, has_more=has_more, differing=differing, otherwise=otherwise)

    async def _sentence_scores(self, part: QuestionPart, context: Context) -> SentenceScores:
        if self.scorer is None:
            return NO_SCORES
        statements = make_statements(part, context, find_rows(part, context), self.max_characters)
        return await score_sentences(self.scorer, part.terms.text, statements)

    def _choose(
        self, statements: Sequence[Statement], part: QuestionPart, context: Context, found_rows: RowsOfImages
    ) -> tuple[list[Statement], list[Statement], list[Statement]]:
        """Choose those of the statements that answer a part, and one that states otherwise.

        Also return the cells that would answer it if tables did not give different values, and all statements that
        answer it nearly as well as the best.
        """
        criteria = CriteriaByDocument(part, context)
        answering = [
            statement
            for statement in statements
            if criteria.answers(statement, clearly_first=sentence_key(statement) == part.scores.first)
        ]
        answering = keep_uses_of_thing(answering, part.terms)
        candidates = [*statements, *ambiguous_rows(part.terms, context, found_rows, self.max_characters)]
        competing = [row for row in candidates if criteria.may_compete(row) and row not in answering]
        answering, differing = split_by_agreement(answering, competing, part)
        if differing:  # a sentence must itself name what it is about
            subject = part.terms.subject
            answering = [answer for answer in answering if answer.is_of_cells or subject.issubset(answer.words)]
        if not answering:
            return [], differing, []
        if self.scorer is None:
            coverage = StatementCoverage(context, part.weights)
            scores = [score_statement(statement, part.terms, coverage.of(statement)) for statement in answering]
        else:
            scores = [part.scores.of.get(sentence_key(statement), 0.0) for statement in answering]
        limits: dict[Kind, int] = {"text": self.max_sentences, "image": self.max_images}
        chosen = choose_statements(answering, scores, part.terms, limits=limits, keep=self.keep)
        good = [answer for answer, score in zip(answering, scores, strict=True) if score >= self.keep * max(scores)]
        if not chosen:
            return [], differing, good
        otherwise = [answer for answer in answering if states_otherwise(chosen[0], answer, part.terms)]
        otherwise += [other for other in statements if _denies_answer(other, chosen[0], part.terms, criteria)]
        return [*chosen, *(statement for statement in otherwise[:1] if statement not in chosen)], differing, good


def _denies_answer(
    statement: Statement, answer: Statement, question: QuestionTerms, criteria: CriteriaByDocument
) -> bool:
    """Whether a statement of another document states the contrary of an answer, and that would answer in its place."""
    is_stated = statement.document != answer.document and not statement.text.endswith("?")
    if not is_stated or not is_contrary_of(statement, answer, question):
        return False
    return criteria.answers(statement.model_copy(update={"text": answer.text, "words": answer.words}))


def _warnings(parts: Sequence[AnsweredPart]) -> tuple[str, ...]:
    """What the reader of these answers should know: what documents differ on, and that there is more, or are others."""
    differing = dict.fromkeys(_disagreement(part) for part in parts if part.differs)
    goes_on = [SECTION_GOES_ON] if any(part.has_more for part in parts) else []
    cited = {statement.document for part in parts for statement in part.statements}
    note = other_documents_note([document for part in parts for document in part.otherwise if document not in cited])
    return (*differing, *goes_on, *note)


def _disagreement(part: AnsweredPart) -> str:
    """What tells the reader that the statements of a part differ: those of several documents, or of one."""
    if len({statement.document for statement in part.statements}) == 1:
        return OWN_DISAGREEMENT
    return DISAGREEMENT_WARNING.format(NOUN_OF_DISAGREEMENT.get(part.question.terms.asks, "numbers"))


def _best_places(
    parts: Sequence[QuestionPart], context: Context, statements: Sequence[Statement]
) -> list[LocatedQuote]:
    """The best place for each part that has one, other than the quotes that are shown."""
    cited = {statement.quote.id for statement in statements}
    places: list[LocatedQuote] = []
    for part in parts:
        places += find_places(part, context, besides=cited, sentence_scores=part.scores.of)[:1]
    return places


def _located_answer(question: str, context: Context, scores: SentenceScores, parts: Sequence[AnsweredPart]) -> Answer:
    """Return the answer that shows the places that bear on a question, with an excerpt of each.

    Tables that give different values for it come first.
    """
    terms = question_terms(in_words_of(context, question))
    weighed = WeighedQuestion(terms, weigh_terms(terms, _quote_words(context), context.rarity))
    differing = dict.fromkeys(statement.quote.id for part in parts for statement in part.differing)
    places = find_places(weighed, context, sentence_scores=scores.of, leading=differing)
    uncertain = any(asks_below_uncertain_head(terms, place.quote) for place in places)
    differ = language_difference(question, context)
    warnings = [] if differ is None else [OTHER_LANGUAGE.format(differ.question, differ.documents)]
    warnings += [TABLES_DIFFER] if differing else []
    warnings += [UNCERTAIN_HEAD] if uncertain else []
    warnings += [missing.note for missing in missing_labels(question, [text_of(hit.quote) for hit in context.hits])]
    warnings += other_documents_note(documents_bearing_otherwise(terms, context, places))
    return build_answer(
        question, compose_places(places, terms), context, model=EXTRACTIVE, status="located", warnings=tuple(warnings)
    )


def _asks_of_several_documents(question: str, context: Context) -> bool:
    """Whether a question asks what "the document" consists of or is about, and nothing says which."""
    documents = {hit.quote.document for hit in context.hits}
    if analyse_question(question).asks_overview:
        return len(documents) != 1
    if (front := read_front_matter_request(question)) is not None:
        # For a single document, the front matter would be there; a question without words of the text may find nothing.
        return not (front.naming_words or context.front_matter) and (
            len(documents) > 1 or (not documents and "email" not in front.parts)
        )
    request = read_structure_request(question)
    if request is None or request.naming_words or request.heading_words:
        return False
    if not request.says_document and any(states_number(hit.quote.text, request.kinds) for hit in context.hits):
        return False  # "How many tables are there?" may be about those of a restaurant
    return len(documents) != 1 or not question_terms(question).terms


def _quote_words(context: Context) -> list[frozenset[str]]:
    """The words of each quote, with the months within its spans of months: what is in none of them weighs most."""
    return [words_with_headings(hit.quote) | months_within(hit.quote.all_text()) for hit in context.hits]


def _mark_computed(answer: Answer, statements: Sequence[Statement]) -> Answer:
    """Mark the citations of computed statements as `unchecked`, with the reason."""
    computed = {(statement.quote.kind, statement.number) for statement in statements if statement.is_computed}
    changed = [
        citation.model_copy(update={"verdict": "unchecked", "reason": COMPUTED_REASON})
        for citation in answer.citations
        if (citation.kind, citation.number) in computed
    ]
    return with_citations(answer, changed)
