"""What the cells of a table say of a question beyond their own words: by their columns, and by being in that table."""

import re
from collections.abc import Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.foreign_languages import foreign_function_words
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.acts.times import SAYS_PAST
from quoteweave.generation.extractive.asked_headings import words_above
from quoteweave.generation.extractive.statements import Statement, head_line
from quoteweave.generation.extractive.tables.asked_columns import COUNTS, MONEY, acts_of_doer
from quoteweave.generation.extractive.tables.asked_names import name_of_row, name_without_description
from quoteweave.generation.extractive.tables.heads import read_rows
from quoteweave.generation.relevance import QuestionTerms

# What a table of expenses need not say of each: "How much was spent on heating in March?".
_SPENT = r"pays?|paid|spen[dt]s?"
_OF_EXPENSES = frozenset(words("budget expense expenditure spending spent cost payment paid bill"))
_OF_PLANS = frozenset(words("budget budgeted plan planned estimate estimated expected forecast offer quotation"))
_OF_OTHERS = frozenset(
    words("income revenue sales sold earnings earned received receipts takings turnover proceeds owed saved savings")
)
# Verbs of being, having and keeping, for which the name of a column may stand; it does not stand for past events.
_VERBS = (
    "runs?|works?|stored?|keeps?|kept|lasts?|takes?|costs?|leaves?|departs?|arrives?|weighs?|holds?|contain(?:s|ed)?|measures?"
    "|need(?:s|ed)?|used?|uses|charged?|charges|corresponds?|equals?|amounts?"
    rf"|{_SPENT}"
)
_VERB = lazy_regex(rf"(?P<before>[\w'’-]+)\s+(?P<verb>{_VERBS})\b", re.IGNORECASE)
_BEFORE_NOUNS = frozenset(
    words(
        "the a an this that my our your its of for in on at by with per each every any no",
        stem=False,
        keep_stop_words=True,
    )
)
_CORRESPONDS = lazy_regex(
    rf"\b((?:correspond|equal|amount|read)s?\b(?=\W*$|\s+(?:to|on|at)\b)|(?:{_SPENT})\b(?=\s+(?:on|for)\b))",
    re.IGNORECASE,
)
# What a whole document is about.
_THE_WHOLE = lazy_regex(
    r"\b(?:the|this|your|our)\s+(company|firm|organi[sz]ation|corporation|association|society|club|group)\s"
    r"(?=have\b|has\b|had\b|employ\b)",
    re.IGNORECASE,
)
_PRICE = lazy_regex(rf"{MONEY.pattern}|(?<![\d.,])\d[\d.,]*[.,]\d\d(?![\d.,])", re.IGNORECASE)
_YES_OR_NO = lazy_regex(
    r"\W*(?:yes|no|not|none|true|false|supported|included|available|allowed|optional|ja|nein|oui|non|sí|[x✓✔✗✘])\b.*|\W*[✓✔✗✘]\W*",
    re.IGNORECASE,
)
_OF_EVENTS = frozenset({"date", "person", "place"})
_SURE_KINDS = frozenset({"count", "amount", "money", "percent", "yes_or_no", *_OF_EVENTS})
"""Kinds of questions for which it is checked that a cell has what is asked for."""
_OF_AMOUNTS = frozenset({"amount", "money", "statement"})
_OF_TERMS = lazy_regex(
    r"\W*(?:terms?|words?|expressions?|abbreviations?|acronyms?|concepts?|begriff)\s*\|"
    r"\s*(?:explanations?|meanings?|definitions?|descriptions?|bedeutung|erklärung)\W*",
    re.IGNORECASE,
)
_GLOSSARY = lazy_regex(r"(?:[\d.]+\s+)?(?:glossary|definitions|abbreviations|glossar)\W*", re.IGNORECASE)
_OF_ONE = lazy_regex(r"\b(?:unit|each|per|single|piece)\b", re.IGNORECASE)


def words_of_cells(statement: Statement, question: QuestionTerms) -> frozenset[str]:
    """The words of a question that cells say without having them.

    The name of the first column counts for each row: "402", under "Status". If the cells then have all other words, a
    column stands for a verb of having or keeping ("How long can it be stored?", for "Shelf life"), too, and what is in
    the only column asked for is about the company.
    """
    if not statement.rows:
        return frozenset()
    head = head_line(statement.quote)
    names = read_rows(head)[0] if "|" in head else []
    above = frozenset(words(" ".join(names if len(names) == 2 else names[:1])))
    above = above.union(*(row.implied_words for row in statement.rows))
    if any(len(row.cells) != 1 for row in statement.rows):
        return above
    subject = question.subject
    granted = _verbs(statement, question) | frozenset(words(" ".join(_THE_WHOLE.findall(question.text))))
    granted |= foreign_function_words(question.text, least=1)  # cells have none of these
    if question.asks == "money":
        are_prices = all(_PRICE.search(cell) for _, cell in statement.cells)
        granted = granted.union(words(question.asked_by)) if are_prices else frozenset()
        granted |= {"one", "1"} if _are_of_one(statement, names) else set()
    stated = above.union(statement.words, words_above(statement.quote, is_of_cells=True))
    granted -= frozenset() if question.asks in _OF_AMOUNTS else frozenset(words("pay paid spend spent"))
    return above | granted if subject <= stated | granted else above


def are_not_spent(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a question asks what was spent, and no words in or above the cells say that their amounts are spent.

    They say so in a table of costs, unless these are planned ones, or what others pay.
    """
    past = SAYS_PAST.search(question.text) is not None
    asks_spent = not frozenset(words("paid spend spent" + past * " pay")).isdisjoint(question.subject)
    if not statement.rows or not asks_spent or question.asks not in _OF_AMOUNTS:
        return False
    contrary_words = _OF_OTHERS | _OF_PLANS if past else _OF_OTHERS
    around = words_above(statement.quote, is_of_cells=True).union(statement.words, words(head_line(statement.quote)))
    headings = frozenset(words(" ".join(statement.column_names)))
    # A column "Spent" says so itself, beside one of what was planned.
    return all(_OF_EXPENSES.isdisjoint(names) or not contrary_words.isdisjoint(names) for names in (headings, around))


def _are_of_one(statement: Statement, names: Sequence[str]) -> bool:
    """Whether each cell is the price of one thing: its heading says so, or the table has no column of quantities."""
    return not any(map(COUNTS.fullmatch, names)) or all(map(_OF_ONE.search, statement.column_names))


def _verbs(statement: Statement, question: QuestionTerms) -> frozenset[str]:
    """The verbs of a question that are of having or keeping, and not of what happened once.

    If it asks who does something, this is the verb whose doer the column names: "Preacher". For a question of no
    certain kind, only verbs such as "corresponds" count, and only if the question names the column, too.
    """
    text, asks = question.text, question.asks
    headings = statement.column_names
    done = frozenset(word for name in headings for word in acts_of_doer(name, text, question.terms))
    if asks == "person" and done:
        return done
    named = all(set(words(name)).intersection(question.terms) for name in headings)
    like = frozenset(words(" ".join(_CORRESPONDS.findall(text)))) if named else frozenset[str]()
    past = SAYS_PAST.search(text) is not None
    if asks not in _SURE_KINDS or (past and asks in _OF_EVENTS):
        return like
    if asks == "yes_or_no" and not all(_YES_OR_NO.fullmatch(cell) for _, cell in statement.cells):
        return like
    verbs = (match["verb"] for match in _VERB.finditer(text) if match["before"].casefold() not in _BEFORE_NOUNS)
    return like.union(words(" ".join(verbs)))


def are_named_by_columns(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a question names the columns of cells: "What is Ada Byron's extension?"."""
    headings = statement.column_names
    return bool(headings) and all(name and set(words(name)).issubset(question.terms) for name in headings)


def defines_terms(statement: Statement) -> bool:
    """Whether a row is in a table of terms and their meanings, by the table's head or by the heading above it."""
    headed = _GLOSSARY.fullmatch(statement.quote.section or statement.quote.caption or "")
    return statement.is_of_cells and (headed is not None or _OF_TERMS.fullmatch(head_line(statement.quote)) is not None)


def is_row_asked(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement is the only cell asked for in the row that is all of a question's subject.

    It may also be the row that was looked up by a cell which is all of the subject: "Who is the treasurer?".
    """
    if len(statement.rows) != 1 or question.asks == "yes_or_no":
        return False
    (row,) = statement.rows
    if row.has_asked_kind:
        return True
    return len(row.cells) == 1 and question.subject in (
        row.naming_words,
        name_of_row(name_without_description(row.name)),
    )
