"""Which sentences of a draft state something that a source could support.

A sentence with a number, a date, a code or quoted words does. One of words alone does where it reads as a statement: it
ends in a full stop, which headings do not, has a few words of content, and is neither a question, an instruction, the
author's own plan, work or opinion, nor about the text itself. That is told by lists of English words and by word
order, not by a parser; sentences of another language are statements by their length alone. What is taken for a
statement wrongly costs a search, and what is passed over wrongly a citation, so that it errs towards statements.
`benchmarks/draft_sentences.py` says how often.
"""

import re

from quoteweave.core.text.tokens import words
from quoteweave.generation.gate.sentence_check import has_figures, is_factual

MIN_CONTENT_WORDS = 3
"""Least different words of a sentence in words alone, stop words not counted."""

_FULL_STOP = re.compile(r"[.。][\"'”’»)\]*_]*\Z")
_QUESTION_OR_LABEL = re.compile(r"[?？:][\"'”’»)\]*_]*\Z")
# "I" of the author begins a clause; that of "World War I", "type I" and "complexes III and I" is a numeral.
_AUTHOR = (
    r"(?:(?:\A|[,;:(–—]\s*)I(?!\s+(?:and|or|to)\s+[IVX]+\b)"
    r"|(?<![IVX\d]\s)\b(?i:and|but|or|nor|so|as|if|that|than|when|while|what|which|who|where|why|how|because|since"
    r"|until|before|after|although|though|whether|then|here|now|year|month|week|time)\s+I(?=\s+[a-z])"
    r"|\bI(?:['’]\w+|\s+(?:am|have|do)))\b"
)
# The author and the reader: their plans, work, opinions and thanks. "Thanks to the rain, it grew" states something.
_PERSON = re.compile(
    rf"{_AUTHOR}|\b(?:[Ww]e|[Uu]s|[Mm]e|[Mm]y|[Oo]urs?|[Yy]ours?|[Yy]ou)\b"
    r"|\A(?:[Mm]any\s+thanks\b|[Tt]hanks\b(?!\s+to\b[^,]*,))"
)
# A verb that tells the reader what to do stands before what it is to be done to: "Install the package". The verbs are
# listed, as much else stands there: "Often the", "Half a", "Neither the", "Trees the size of".
_INSTRUCTION = re.compile(
    r"\A(?:(?:please|let|do|don['’]t|see|suppose|assume|make\s+sure|think\s+of|cf)\b(?!-)"
    r"|(?:note|notice|recall|remember|observe|imagine|check|ensure)\s+(?:that|how|what|whether|also)\b"
    r"|(?:add|adjust|apply|arrange|ask|assign|attach|avoid|bring|build|buy|calculate|call|change|check|choose|clean|click"
    r"|close|collect|combine|compare|compute|configure|connect|consider|consult|copy|count|create|cut|define|delete"
    r"|describe|discuss|divide|download|draw|drop|edit|enter|examine|explain|fill|find|fix|follow|get|give|hold"
    r"|identify|ignore|imagine|insert|inspect|install|keep|label|leave|list|load|look|mark|measure|mix|move|multiply"
    r"|name|note|observe|open|pick|place|plot|pour|prepare|press|print|pull|push|put|read|recall|record|release"
    r"|remember|remove|rename|repeat|replace|restart|rinse|run|save|select|send|set|show|sort|specify|split|start|stir"
    r"|stop|store|take|tell|test|tighten|train|try|turn|type|update|upload|use|verify|visit|wait|wash|watch|wear|wipe"
    r"|write)\s+(?:the|an?|this|these|those|each|every|any|all|both|it|them|your)\s)",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:should|ought|would\s+rather)\b"
    r"|\A(?:un?fortunately|fortunately|sadly|luckily|hopefully|admittedly|frankly|regrettably)\b|\Apersonally,",
    re.IGNORECASE,
)
# "It is unclear how", "This is an important question"; but "It is common in ponds" states something.
_JUDGEMENT = re.compile(
    r"\A(?:it|this|that|there)(?:['’]s|\s+(?:is|are|was|were|remains?|remained|seems|has\s+been|(?:would|will|may)\s+be))"
    r"(?:\s+(?:\w+ly|an?|the|of|no|not|so|too|very|quite|rather|still|yet|as|many|some))*"
    r"\s+(?:un(?:clear|certain|wise|fair)|wise|foolish|sensible|tempting|worth|surpris(?:e|ing)|pity|shame|mistake"
    r"|(?:important|interesting|remarkable|better|best)\s+(?:to|that)"
    r"|(?:important|interesting|difficult|hard|open|good|fair|key)\s+(?:questions?|points?|issues?|matters?|topics?))\b"
    r"|\A(?:more|further|much)\s+(?:\w+\s+)?(?:research|work|study|studies|data|evidence)\s+(?:is|are)\s+needed\b",
    re.IGNORECASE,
)
_ABOUT_THE_TEXT = re.compile(
    r"\b(?:th(?:is|ese)|the\s+(?:next|following|previous|preceding|last|present|remaining|rest\s+of\s+(?:the|this)))"
    r"\s+(?:\w+\s+)?(?:sections?|subsections?|chapters?|paragraphs?|appendix)\b"
    r"|\b(?:this|the\s+(?:present|rest\s+of\s+(?:the|this)))"
    r"\s+(?:\w+\s+)?(?:paper|article|thesis|essay|report|text|book|post|work)\b(?!-)"
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
