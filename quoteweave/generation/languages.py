"""Guesses the language of a text by its commonest words, to tell when a question and the documents differ in it.

Only languages in Latin letters are told apart, by words that are frequent in one of them and few others.
"""

from collections import Counter
from functools import lru_cache
from typing import Literal, get_args

from quoteweave.core.lazy_regex import lazy_regex

Language = Literal["English", "German", "French", "Spanish", "Italian", "Dutch", "Portuguese"]

MIN_LEAD, MIN_FOUND = 2, 3
"""How many function words a language must have more than any other; with `MIN_FOUND` words, one more suffices."""
MAX_TIMES = 2
"""How often the same word counts: ".com" in each line makes no text Portuguese."""

_WORDS: dict[Language, str] = {
    "English": (
        "the of and to in is are was were what which how who whom when where why does do did for on with by "
        "from that this it as at be has have had not or an my you your we they there "
        "can may will would if many much"
    ),
    "German": (
        "in der die das und ist sind war waren wie was wer wen wem wo wann warum welche welcher welches viele "
        "hat haben von für mit auf im am zum zur den dem des ein eine einer einen nicht gibt wird werden "
        "wurde wurden man sich es ich wir ihr mein meine sein seine diese dieser dieses bei nach aus über unter oder "
        "auch kann können muss soll darf kostet heißt bedeutet steht wieviel weshalb wieso wessen nenne zeige erkläre "
        "beschreibe"
    ),
    "French": (
        "le la les un une des du de et est sont qui que quoi quel quelle quels quelles comment combien "
        "quand où pourquoi dans pour sur avec par au aux ce cette ces il elle ont été ne pas se en je nous vous "
        "mon ma mes votre notre leur peut doit faut coûte signifie donne donnez explique expliquez"
    ),
    "Spanish": (
        "el la los las un una unos de del es son qué quién cuál cuáles cómo cuánto cuántos cuándo dónde por "
        "para con en se su al lo que no ha han fue este esta hay mi mis tiene tienen está están puede puedo debe "
        "cuesta significa dime explica"
    ),
    "Italian": (
        "il lo la gli le un uno una di del della dei delle sono che chi quale quali come quanto quanti "
        "quando dove perché per con in si al alla non ha hanno da nel nella questo questa mio mia può posso deve costa "
        "significa cosa spiega"
    ),
    "Dutch": (
        "de het een en is zijn was wat wie welke hoe hoeveel wanneer waar waarom van voor met op in te dat "
        "die niet heeft hebben wordt worden er aan bij ik wij mijn deze dit welk kan moet kost betekent"
    ),
    "Portuguese": (
        "os as um uma de do da dos das são que quem qual quais como quanto quantos quando onde por "
        "para com em no na se não há foi este esta ao meu minha tem têm pode posso deve custa significa explique"
    ),
}
_WORD = lazy_regex(r"[^\W\d_]{2,}")  # single letters are initials and signs
_SPANISH_MARK = lazy_regex("[¿¡]")
_FUNCTION_WORDS: dict[Language, frozenset[str]] = {name: frozenset(_WORDS[name].split()) for name in get_args(Language)}


@lru_cache(maxsize=64)  # called for a question and for what was found, before and after the answer is put together
def guess_language(text: str, *, sure: bool = True) -> Language | None:
    """Guess the language of a text; None if too few words tell, or if two languages are equally likely.

    If it need not be `sure`, one word that is frequent in only one language suffices.
    """
    word_counts = Counter(_WORD.findall(text.casefold()))
    scores = {
        name: sum(min(word_counts[word], MAX_TIMES) for word in word_counts.keys() & known)
        for name, known in _FUNCTION_WORDS.items()
    }
    scores["Spanish"] += _SPANISH_MARK.search(text) is not None
    first, second = sorted(scores, key=lambda name: -scores[name])[:2]
    lead = scores[first] - scores[second]
    return first if lead >= MIN_LEAD or (lead > 0 and (scores[first] >= MIN_FOUND or not sure)) else None


def function_words(language: Language) -> frozenset[str]:
    """The words by which a language is recognised, as they are written, in lower case.

    Some that are frequent in other languages, too, are left out.
    """
    return _FUNCTION_WORDS[language]
