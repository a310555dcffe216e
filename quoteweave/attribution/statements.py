"""Which sentences of a draft state something that a source could support.

A sentence with a number, a date, a code or quoted words does. One of words alone does where it reads as a statement: it
ends in a full stop, which headings do not, has a few words of content, and is neither a question, an instruction, the
author's own plan, work or opinion, nor about the text itself. That is told by closed classes of English words and by
word order, not by a parser; sentences of another language are statements by their length alone. What is taken for a
statement wrongly costs a search, and what is passed over wrongly a citation, so that it errs towards statements.
`benchmarks/draft_sentences.py` says how often.
"""

import re

from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.sentence_check import has_figures, is_factual

MIN_CONTENT_WORDS = 4
"""Least different words of a sentence in words alone, stop words not counted."""

_FULL_STOP = re.compile(r"[.。][\"'”’»)\]*_]*\Z")
_QUESTION_OR_LABEL = re.compile(r"[?？:][\"'”’»)\]*_]*\Z")
# The author and the reader: their plans, work, opinions and thanks.
_PERSON = re.compile(r"\b(?:I|[Ww]e|[Uu]s|[Mm]e|[Mm]y|[Oo]urs?|[Yy]ours?|[Yy]ou)\b|\A(?:Many\s+)?[Tt]hanks\b")
_INSTRUCTION = re.compile(
    r"\A(?:(?:please|let|do|don['’]t|see|note|recall|suppose|assume|make sure|cf)\b"
    # A verb alone before an article: "Install the package". What else may stand there is left out.
    r"|(?!(?:about|above|across|after|against|all|along|although|amid|among|around|as|at|because|before|behind|below"
    r"|beneath|beside|besides|between|beyond|both|but|by|concerning|considering|contrary|despite|down|during|even|except"
    r"|following|for|from|given|half|how|if|in|inside|into|like|near|nearly|not|of|off|on|once|only|onto|opposite|or|out"
    r"|outside|over|past|per|regarding|since|so|such|than|that|though|through|throughout|till|to|toward|towards|twice"
    r"|under|underneath|unless|unlike|until|up|upon|via|what|when|whenever|where|whereas|wherever|whether|while|with"
    r"|within|without|yet|and|nor|quite|rather|also|then|still|perhaps|maybe)\b)"
    r"(?!\w+(?:ly|ing)\b)\w+\s+(?:the|an?|this|these|those|each|every|your)\s)",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:should|must|ought|would\s+rather|in\s+(?:my|our)\s+(?:view|opinion))\b"
    r"|\A(?:un?fortunately|fortunately|sadly|luckily|hopefully|personally|admittedly|frankly|regrettably)\b",
    re.IGNORECASE,
)
# "It is unclear how", "That was a good year"; but "It is known that" reports something.
_JUDGEMENT = re.compile(
    r"\A(?:it|this|that)\s+(?:(?:is|was|remains|remained|seems|has\s+been|would\s+be|will\s+be|may\s+be)\b|['’]s\b)"
    r"(?!\s+(?:\w+\s+)?\w+(?:ed|wn|nd|ght|en)\s+(?:that|to|how|why|by|in|from)\b)",
    re.IGNORECASE,
)
_ABOUT_THE_TEXT = re.compile(
    r"\b(?:this|these|the\s+(?:next|following|previous|preceding|last|present|remaining|rest\s+of\s+(?:the|this)))"
    r"\s+(?:\w+\s+)?(?:sections?|subsections?|chapters?|paragraphs?|appendix|papers?|articles?|thesis|essays?|reports?"
    r"|texts?|books?|posts?|work)\b"
    r"|\A(?:as\s+(?:mentioned|shown|discussed|described|noted|stated|explained|seen)\s+(?:above|below|earlier|before)"
    r"|to\s+(?:sum\s+up|summari[sz]e|conclude|begin\s+with)|so\s+much\s+for|in\s+what\s+follows)\b",
    re.IGNORECASE,
)
_NO_STATEMENT = (_PERSON, _INSTRUCTION, _OPINION, _JUDGEMENT, _ABOUT_THE_TEXT)


def is_statement(sentence: str) -> bool:
    """Whether a sentence, without marks and markup, states something that a source could support.

    >>> is_statement("Coral reefs recover slowly after bleaching.")
    True
    >>> is_statement("The next section describes the data and the method.")
    False
    """
    said = sentence.strip()
    if _QUESTION_OR_LABEL.search(said) or said.startswith("#"):
        return False
    if has_figures(said):
        return True
    if any(pattern.search(said) for pattern in _NO_STATEMENT):
        return False
    return is_factual(said) or (_FULL_STOP.search(said) is not None and len(set(words(said))) >= MIN_CONTENT_WORDS)
