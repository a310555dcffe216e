"""Guesses the language of a text by its commonest words, to say where a question and the documents differ in it.

Only languages in Latin letters are told apart, by words that are frequent in one of them and few others.
"""

import re
from typing import Literal, get_args

Language = Literal["English", "German", "French", "Spanish", "Italian", "Dutch", "Portuguese"]

MIN_LEAD, MIN_FOUND = 2, 3
"""Function words by which a language must be ahead of all others; with `MIN_FOUND` words one suffices."""

_WORDS: dict[Language, str] = {
    "English": (
        "the of and to in is are was were what which how who whom when where why does do did for on with by "
        "from that this it as at be has have had not or a an i my you your we they there "
        "can may will would if many much"
    ),
    "German": (
        "in der die das und ist sind war waren wie was wer wen wem wo wann warum welche welcher welches viele "
        "hat haben von für mit auf im am zum zur den dem des ein eine einer einen nicht gibt wird werden "
        "wurde wurden man sich es"
    ),
    "French": (
        "le la les l un une des du de d et est sont qui que quoi quel quelle quels quelles comment combien "
        "quand où pourquoi dans pour sur avec par au aux ce cette ces il elle a ont été ne pas se y en"
    ),
    "Spanish": (
        "el la los las un una unos de del y es son qué quién cuál cuáles cómo cuánto cuántos cuándo dónde por "
        "para con en se su al lo que no ha han fue este esta hay"
    ),
    "Italian": (
        "il lo la i gli le un uno una di del della dei delle e è sono che chi quale quali come quanto quanti "
        "quando dove perché per con in si al alla non ha hanno da nel nella"
    ),
    "Dutch": (
        "de het een en is zijn was wat wie welke hoe hoeveel wanneer waar waarom van voor met op in te dat "
        "die niet heeft hebben wordt worden er aan bij"
    ),
    "Portuguese": (
        "o a os as um uma de do da dos das e é são que quem qual quais como quanto quantos quando onde por "
        "para com em no na se não há foi este esta ao"
    ),
}


_WORD = re.compile(r"[^\W\d_]+")
_FUNCTION_WORDS: dict[Language, frozenset[str]] = {name: frozenset(_WORDS[name].split()) for name in get_args(Language)}


def guess_language(text: str) -> Language | None:
    """Guess the language of a text; None where too few words tell, or two languages alike."""
    said = _WORD.findall(text.casefold())
    found = {name: sum(word in known for word in said) for name, known in _FUNCTION_WORDS.items()}
    first, second = sorted(found, key=lambda name: -found[name])[:2]
    lead = found[first] - found[second]
    return first if lead >= MIN_LEAD or (lead > 0 and found[first] >= MIN_FOUND) else None
