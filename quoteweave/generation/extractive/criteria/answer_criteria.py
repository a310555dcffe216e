"""Decide which statements answer a question: those with all that distinguishes the question, and what it asks for.

Requirements on a statement, together with its quote and what is above it (caption, section, the document's name):

- it has every name and number of the question: a sentence on 2015 does not answer for revenues in 2013; a year may be
  that of the document;
- it has all other distinguishing words of the question that occur in the document, and the nouns that no page of the
  collection has: a sentence on wool does not answer a question about coal;
- it has most of the weight of what the question is about: `MIN_COVERAGE` in the sentence itself, `AROUND` times that
  with what is above it;
- it is not about the opposite ("the up button" where the question asks for "the down button"), nor of another owner;
- words that are adjacent in the question are adjacent in it ("long-term debt"), unless one is the act ("when was the
  survey conducted");
- it is no question itself, and no line of a table of contents;
- it has what is asked for (`answer_kinds`), and not only from the question itself;
- the sentence that introduces it does not deny or prohibit it ("Never do any of the following:");
- if it begins with "It" or the like, the words must be in it or in the sentence before it, and not only above them.

A verb may be replaced by one of the same meaning ("supports" by "provides", `words_alike`), and the first cell of a
table ("Fiscal years ended") counts as above its rows.

Headings and captions answer only questions for a term's meaning, as they merely introduce content elsewhere; and no
sentence answers a question for something that has to be looked at or counted on pages.
"""

import re
from collections import Counter, defaultdict

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import WITHOUT_STATEMENTS
from quoteweave.core.text.foreign_languages import permission_words
from quoteweave.core.text.question_analysis import WHAT_MEANS, with_words_alike
from quoteweave.core.text.question_words import asked_thing
from quoteweave.core.text.spelling_variants import other_spellings
from quoteweave.core.text.tokens import has_digit, name_words, words
from quoteweave.generation.answer_text import is_plainly_code
from quoteweave.generation.extractive.acts.another_thing import is_about_another_thing
from quoteweave.generation.extractive.acts.as_asked import tells_as_asked
from quoteweave.generation.extractive.acts.asked_acts import tells_asked_act
from quoteweave.generation.extractive.acts.instructions import begins_with_act
from quoteweave.generation.extractive.acts.opposites import has_none, is_opposite
from quoteweave.generation.extractive.acts.prepositions import asking_words
from quoteweave.generation.extractive.acts.single_subjects import (
    dispensable_words,
    heading_of_times,
    is_about_single_subject,
    label_of,
    stands_alone,
    words_of_heading,
)
from quoteweave.generation.extractive.acts.stated_amounts import new_numbers
from quoteweave.generation.extractive.acts.times import stems_of_bounds, stems_of_months
from quoteweave.generation.extractive.answer_kinds import has_answer_kind
from quoteweave.generation.extractive.asked_headings import tells_use, words_above
from quoteweave.generation.extractive.asked_nouns import asked_noun, is_entry
from quoteweave.generation.extractive.criteria.adjacent_words import adjacent_pairs, implied_by_article, keeps_adjacent
from quoteweave.generation.extractive.criteria.antecedents import is_of_another, words_for_us, words_named_before
from quoteweave.generation.extractive.criteria.document_years import DocumentYears
from quoteweave.generation.extractive.criteria.owners import Owners
from quoteweave.generation.extractive.criteria.told_changes import gives_change_instead
from quoteweave.generation.extractive.foreign.kinds import words_with_value
from quoteweave.generation.extractive.locating import group_by_page
from quoteweave.generation.extractive.named.answer_names import asks_colour
from quoteweave.generation.extractive.statements import (
    Statement,
    quotes_of,
    refers_back,
    words_of_heading_meant,
)
from quoteweave.generation.extractive.tables.asked_rows import asks_for_row
from quoteweave.generation.extractive.tables.implied_by_cells import (
    are_named_by_columns,
    are_not_spent,
    defines_terms,
    words_of_cells,
)
from quoteweave.generation.extractive.whole_document.document_subject import (
    whole_document_nouns,
    words_of_whole_document,
)
from quoteweave.generation.gate.dates import RECENT_YEAR, is_of_date
from quoteweave.generation.relevance import (
    WeighedQuestion,
    coverage,
    subject_terms,
    with_all_alike,
    with_quantity,
    without_compounds,
    words_with_headings,
)
from quoteweave.generation.sentence_kinds import denies, has_denying_word

MIN_COVERAGE, MIN_COVERAGE_ELSEWHERE = 0.6, 0.75
"""The least share of the subject's weight that a statement must contain: on the best pages, and elsewhere."""
MIN_COVERAGE_FACTOID = 0.85
"""The same for a date, a person, a place, and yes or no: as most sentences have some name, the verb must occur."""
BEST_PAGES = 2  # so many pages count as the best
AROUND, MAX_ASKED = 1.2, 0.8
"""Factor for the least share if the text above the statement counts, too, and the highest share required then."""
DISTINGUISHING = 0.6
"""Words with at least this share of the heaviest word's weight must not be missing: all but light ones.

A name that is in no sentence outweighs the others, and then is the only word that must not be missing."""
MIN_INTRODUCED, NEARLY_ALL = 0.45, 0.97
"""The least share in a sentence if the text above has all the rest (`_may_be_introduced`), and what counts as all."""
MIN_SUBJECT_TERMS = 2
"""The least number of words in the subject: any statement may contain the only one of "what year is it for"."""
CLEARLY_FIRST_SHARE = 2 / 3
"""Factor for these least shares, for the statement that a model ranks clearly first."""

_FACTOID_KINDS = frozenset({"yes_or_no", "date", "person", "place"})
_INTRODUCED_KINDS = frozenset({"date", "person", "money", "yes_or_no", "steps"})
# A text that denies one of these words only answers whether something is allowed, and not what is.
_ALLOWING = frozenset(words("allowed permitted covered included"))
_FORBIDDING = frozenset(words(" ".join(may_not for _, may_not in permission_words())))
# A question, a line of a table of contents, or an entry of a list of references.
_NO_STATEMENT = lazy_regex(
    r"^[^“”]*\?$|\.{4,}|(?:\s\.){4,}|(?:\b\d{1,3}(?:\s[A-ZÀ-Þ][\w'’-]*){2}[^\d]{0,80}){3}"
    r"|^\W*(?:\d+\W+)?(?:[A-Z]\.\s?){1,3}[A-ZÀ-Þ][^“”\"]{1,200}[“\"].*(?:19|20)\d\d\W*$"
)
_WITHOUT = lazy_regex(r"\b(?:without|not?)\b", re.IGNORECASE)
_CLAUSE_END = lazy_regex(r"[,;:](?=\s)")
_NAMES_CHART = lazy_regex(r"\b(?:charts?|graphs?|histograms?|axis|axes)\b", re.IGNORECASE)
_IN_SEASON = lazy_regex(r"\b(?:in|during)\s+(?:the\s+)?(spring|summer|autumn|winter)\b", re.IGNORECASE)
# A noun that the question asks about. Unlike a noun, a verb may well be replaced by another word in a statement.
_NOUN_BEHIND_SMALL_WORD = lazy_regex(
    r"\b(?:of|the|an?|this|that|for|from|with|by|on|in|at|der|die|das|des|ein|eine|von|du|de|des|la|le|del|el)\s+(\w+)",
    re.IGNORECASE,
)


class AnswerCriteria:
    """Decides which statements of a context answer a question."""

    def __init__(self, weighed: WeighedQuestion, context: Context) -> None:
        question, weights = weighed.terms, weighed.weights
        self._question, self._context, text = question, context, question.text
        self._subject = {word: weights[word] for word in subject_terms(question) if word not in asking_words(question)}
        self._subject_words = frozenset(self._subject)
        self._thing_words = asked_thing(text)
        common = self._subject_words - question.names
        self._pairs, self._all_pairs = (adjacent_pairs(question, common, verbs=verbs) for verbs in (False, True))
        self._hits_of_best_pages = {id(hit) for page in group_by_page(context)[:BEST_PAGES] for _, hit in page}
        self._documents: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for hit in context.hits:
            self._documents[hit.quote.document].update(words_with_headings(hit.quote))
        heavy = DISTINGUISHING * max(weights.values(), default=0.0)
        self._heavy_words = frozenset(word for word, weight in self._subject.items() if weight >= heavy)
        charted = any(hit.quote.layout == "chart" for hit in context.images)  # "plot 19" need not be one
        self._may_mean_chart = charted or _NAMES_CHART.search(text) is not None
        self._asks_for_row = asks_for_row(question, context)
        self._asked_noun = asked_noun(question) if question.asks == "statement" else frozenset[str]()
        self._quantity = question.quantity
        self._spellings = other_spellings(text)
        self._nouns_for_document = whole_document_nouns(text)
        self._titles = {name: words_of_whole_document(text, context, name) for name in self._documents}
        self._years = DocumentYears(question, self._documents, self._titles)
        self._owners = Owners(question, context)
        nouns = {word for match in _NOUN_BEHIND_SMALL_WORD.finditer(text) for word in words(match[1])}
        seasons = _IN_SEASON.findall(text)
        self._names_and_seasons = question.names.union(set(words(" ".join(seasons))) & self._subject_words)
        self._unknown_nouns = frozenset(word for word in nouns if context.rarity.get(word, 0.0) >= 1.0)

    def answers(self, statement: Statement, *, clearly_first: bool = False) -> bool:
        """Whether a statement, a sentence or cells of a table, answers the question.

        It may have fewer of the question's words (`CLEARLY_FIRST_SHARE`) where a model ranks it clearly first of all.
        """
        if statement.is_denied or (self._question.analysis.asks_denied and not self._denies(statement)):
            return False
        if not self._may_answer(statement) or not self._matches_identity(statement):
            return False
        # Covering the question takes less time to check than what follows.
        covered_words = self._words_of_statement(statement)
        if not self._covers(statement, covered_words, clearly_first=clearly_first):
            return False
        is_of_another_thing = self._tells_otherwise(statement) or self._owners.is_another(statement)
        if is_of_another_thing or self._tells_contrary(statement) or gives_change_instead(statement, self._question):
            return False
        keeps_together = (
            statement.is_of_cells
            or keeps_adjacent(statement.words, self._pairs, self._all_pairs, self._subject_words)
            or tells_asked_act(statement.text, self._question.text)
        )
        says_more = (
            self._question.asks == "yes_or_no"
            or not covered_words <= set(self._question.terms)
            or bool(statement.introduced)
            or has_none(statement.text, self._question.text)
        )
        if self._asks_for_row and not statement.is_of_cells and not new_numbers(statement, self._question):
            return False
        tells = keeps_together and says_more and has_answer_kind(statement, self._question)
        return tells and tells_as_asked(statement, self._question) and not are_not_spent(statement, self._question)

    def may_compete(self, statement: Statement) -> bool:
        """Whether cells that do not answer may still be what is asked for, because they lack only words of a date."""
        is_told = statement.rows and not statement.is_denied
        if not is_told or self._years.is_about_another(statement) or self._tells_otherwise(statement):
            return False
        quote_words = self._with_alike(words_with_headings(statement.quote))
        return {word for word in self._subject if not is_of_date(word) or RECENT_YEAR.fullmatch(word)} <= quote_words

    def _tells_otherwise(self, statement: Statement) -> bool:
        """Whether a statement says the opposite of what is asked for, or is about another thing."""
        question = self._question
        return is_opposite(statement, question) or is_about_another_thing(statement, question.analysis, question.terms)

    def _tells_contrary(self, statement: Statement) -> bool:
        """Whether a statement prohibits what an open question says is allowed, or the reverse: "What is allowed?"."""
        analysis, terms = self._question.analysis, self._question.terms
        if analysis.asks == "yes_or_no":
            return False
        if not _FORBIDDING.isdisjoint(terms):
            return _FORBIDDING.isdisjoint(statement.words) and not self._denies(statement)
        return not has_denying_word(analysis.text) and not _ALLOWING.isdisjoint(terms) and self._denies(statement)

    def _least_introduced(self, statement: Statement) -> float:
        """The least share in a sentence under a heading that has all the rest: "Water is included", under "Rent"."""
        if self._question.asks != "yes_or_no":
            return MIN_INTRODUCED
        heading = {word for word in words(statement.quote.section or "") if not word.isdecimal()}
        if not heading <= self._subject_words:
            return MIN_COVERAGE
        return MIN_INTRODUCED if stands_alone(self._subject_words - heading, statement.text) else NEARLY_ALL

    def _covers(self, statement: Statement, covered: frozenset[str], *, clearly_first: bool) -> bool:
        """Whether a statement that has the `covered` words covers what the question is about, with what is above it."""
        asks, beside = self._question.asks, frozenset[str]()
        if not refers_back(statement.text):
            beside = words_above(statement.quote, is_of_cells=statement.is_of_cells).union(words(statement.above))
            beside |= self._title_words(statement)
        beside |= set(filter(RECENT_YEAR.fullmatch, self._title_words(statement)))
        if not self._asked_noun & self._documents[statement.document].keys() <= covered | beside:
            return False  # the document has that noun, but elsewhere
        least = MIN_COVERAGE if id(statement.hit) in self._hits_of_best_pages else MIN_COVERAGE_ELSEWHERE
        least = MIN_COVERAGE_FACTOID if asks in _FACTOID_KINDS else NEARLY_ALL if asks == "look" else least
        total = sum(self._subject.values())
        least *= total * CLEARLY_FIRST_SHARE if clearly_first else total
        around = min(least * AROUND, MAX_ASKED * total)
        share = self._share_of_rest(covered, beside & self._known_words(statement))
        inside = total if self._is_own_property(statement) else max(coverage(self._subject, covered), share * total)
        with_above = coverage(self._subject, covered | beside)
        introduced = inside >= self._least_introduced(statement) * total and with_above >= NEARLY_ALL * total
        return (inside >= least and with_above >= around) or (introduced and self._may_be_introduced(statement))

    def _is_own_property(self, statement: Statement) -> bool:
        """Whether cells or a label give what is asked for about the document's subject: "Weight", in a manual.

        The heading may name the subject, too; above a label, it must name nothing else.
        """
        labels = [frozenset(words(row.name)) for row in statement.rows]
        texts = (quote.text for quote in quotes_of(self._context, statement.document))
        if not labels:
            label = label_of(statement.text, self._question) or words_with_value(statement.text, self._question, texts)
            labels = [label or heading_of_times(statement, self._question)]
        with_alike = with_all_alike(self._subject_words | (self._quantity.in_rows if self._quantity else frozenset()))
        if not all(label and label <= with_alike for label in labels):
            return False
        other_words = self._subject_words - self._with_alike(frozenset().union(*labels))
        above = words_of_heading(statement.heading)
        title = self._document_words(statement)
        return other_words <= title | above and (statement.is_of_cells or above <= title | self._subject_words)

    def _known_words(self, statement: Statement) -> frozenset[str]:
        """What a statement's document is about, by its name and title, which its sentences need not repeat.

        For a question of no certain kind, only names count: "What is discussed in Section 6 of Versatile Variances?".
        """
        known = self._document_words(statement)
        named = self._question.names | self._nouns_for_document
        return known & named if self._question.asks == "statement" else known

    def _share_of_rest(self, covered: frozenset[str], known_words: frozenset[str]) -> float:
        """The share of the subject's weight, without known words, that is covered; 0 if hardly any words are left.

        "How much does the kiln cost?" is not answered by the price of anything else in the kiln's manual.
        """
        other_weights = {word: weight for word, weight in self._subject.items() if word not in known_words}
        if len(other_weights) < MIN_SUBJECT_TERMS:
            return 0.0
        return coverage(other_weights, covered) / sum(other_weights.values())

    def _document_words(self, statement: Statement) -> frozenset[str]:
        """The words of the name and the title of a statement's document."""
        if is_of_another(statement, self._question):
            return frozenset()
        return self._titles.get(statement.document, frozenset()).union(name_words(statement.document))

    def _title_words(self, statement: Statement) -> frozenset[str]:
        """The words of the title of a statement's document, and what it is about by its kind: "the machine"."""
        of_another = is_of_another(statement, self._question)
        return frozenset() if of_another else self._titles.get(statement.document, frozenset())

    def _denies(self, statement: Statement) -> bool:
        """Whether the first clause of a statement that is about the question denies something."""
        clauses = _CLAUSE_END.split(statement.text)
        about_it = (clause for clause in clauses if not self._subject_words.isdisjoint(words(clause)))
        return denies(next(about_it, clauses[0]))

    def _may_be_introduced(self, statement: Statement) -> bool:
        """Whether the question's subject may be in the heading alone: under "The move", "Tomasz Wren is in charge"."""
        analysis, text = self._question.analysis, statement.text
        may_be_in_heading = (analysis.asks in _INTRODUCED_KINDS or analysis.asks_denied) and not analysis.asks_front
        if analysis.asks == "amount":  # a part of what the heading names may have another weight
            may_be_in_heading = begins_with_act(text, analysis.text)
        if analysis.asks == "steps":  # "To change the hours, turn the knob", under "Night mode"
            may_be_in_heading = text.startswith("To ") and _WITHOUT.search(statement.heading) is None
        return may_be_in_heading and statement.quote.kind == "text" and text.endswith((".", "!"))

    def _words_of_statement(self, statement: Statement) -> frozenset[str]:
        """The words of a statement; for questions that need their verb, without compounds that the question lacks.

        Someone who "co-founded" one company did not found the other company in the sentence.
        """
        analysis = self._question.analysis
        implied = words_named_before(statement, self._question, tuple(self._subject), self._asked_noun)
        implied |= self._words_not_needed(statement) | words_for_us(statement, self._question, self._context)
        implied |= words_of_heading_meant(statement) | words_of_cells(statement, self._question)
        implied |= implied_by_article(statement.text, statement.quote.text, self._pairs)
        if analysis.asks in _FACTOID_KINDS and "-" in statement.text:
            return self._with_alike(implied.union(words(without_compounds(statement.text, analysis.text))))
        stated = with_quantity(frozenset(statement.words), self._question, statement.text)
        implied |= stems_of_bounds(statement.text, self._question) | stems_of_months(statement.text, self._question)
        return self._with_alike(implied | stated)

    def _with_alike(self, text_words: frozenset[str]) -> frozenset[str]:
        """These words, and those of the subject that they say with other words or spell otherwise."""
        spelled = (word for word, spelling in self._spellings.items() if spelling <= text_words)
        return with_words_alike(text_words, self._subject).union(self._subject_words.intersection(spelled))

    def _words_not_needed(self, statement: Statement) -> frozenset[str]:
        """The subject's words that a statement may lack: all, if it is computed or begins with what is asked about."""
        thing_words = self._thing_words
        if statement.is_computed or (thing_words and tells_use(statement, thing_words, self._question)):
            return self._subject_words
        return dispensable_words(statement, self._question, self._subject_words, self._context)

    def _may_answer(self, statement: Statement) -> bool:
        """Whether a single statement can answer the question, and this one is complete in itself."""
        analysis, layout, section = self._question.analysis, statement.quote.layout, statement.quote.section
        is_to_be_seen = analysis.asks == "parts" or (analysis.asks == "look" and not asks_colour(analysis))
        if is_to_be_seen or _NO_STATEMENT.search(statement.text) or is_plainly_code(statement.text):
            return False
        if analysis.asks == "definition":  # "National Atmospheric Research Laboratory (NARL)", as a heading too
            may_define = not statement.is_of_cells or analysis.asked_by == WHAT_MEANS or defines_terms(statement)
            return layout != "caption" and (may_define or are_named_by_columns(statement, self._question))
        entry = bool(self._thing_words) and is_entry(statement, self._question)
        is_vague = (
            len(self._subject) < MIN_SUBJECT_TERMS
            and not (entry or self._is_own_property(statement))
            and not is_about_single_subject(statement, self._question, self._subject_words, self._context)
        )
        of_chart = "chart" in analysis.picture_types and layout != "chart" and self._may_mean_chart
        if layout in WITHOUT_STATEMENTS or is_vague or of_chart or statement.text.removeprefix("- ") == section:
            return False
        first = statement.text.partition(" ")[0]
        named = bool(words(first)) and set(words(first)) <= set(name_words(statement.document))  # "zoo objects"
        # "v2 was published" is a whole sentence, too.
        is_complete = entry or has_digit(first) or label_of(statement.text) & self._thing_words
        return layout == "list" or named or bool(is_complete) or not first[:1].islower()

    def _matches_identity(self, statement: Statement) -> bool:
        """Whether names, numbers and distinguishing words of the question occur in the statement or around it.

        The year may be missing if it is the most frequent one in what was found of the document, and the statement has
        no other: a report on 2023 does not repeat the year in every sentence.
        """
        document = self._documents[statement.document]
        beside = words_with_headings(statement.quote) | self._title_words(statement)
        if refers_back(statement.text):  # the rest of the quote may be about another thing
            beside = frozenset(words(statement.before))
        statement_words = with_quantity(frozenset(statement.words), self._question, statement.text)
        statement_words |= self._words_not_needed(statement) | words_of_cells(statement, self._question)
        statement_words |= stems_of_months(statement.text, self._question)
        around = self._with_alike(beside | statement_words)
        lacking = self._names_and_seasons - self._words_for_names(statement, statement_words, around)
        if not all(self._years.is_most_frequent(name, statement.document) for name in lacking):
            return False
        if self._years.is_about_another(statement) or (lacking and any(map(RECENT_YEAR.fullmatch, statement.words))):
            return False
        needed = (self._heavy_words & document.keys()) | (self._unknown_nouns & self._subject_words)
        return needed <= around | lacking

    def _words_for_names(
        self, statement: Statement, statement_words: frozenset[str], around: frozenset[str]
    ) -> frozenset[str]:
        """The words among which the question's names must be: of the statement, the one before it, and what is above.

        The rest of the quote may be about other things: "32 mpg for the LE; 46 mpg for the XSE". A share is that of
        what its own sentence names, whatever the heading names.
        """
        if (statement.quote.kind == "image" and not statement.picture) or refers_back(statement.text):
            return around
        above = self._document_words(statement)
        if self._question.asks != "percent":
            above |= words_above(statement.quote, is_of_cells=False).union(words(statement.above))
        return self._with_alike(statement_words.union(above, words(statement.before)))
