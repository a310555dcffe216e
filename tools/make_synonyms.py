"""Write `quoteweave/core/text/synonyms.txt.gz`, from the database files of WordNet 3.0.

    python tools/make_synonyms.py FOLDER        the folder that holds data.noun, index.noun, cntlist.rev…

A line of it begins with a word's stem, followed by the words that mean the same, likeliest first. How likely another
word is meant is the sum, over the senses of both, of the shares that the sense has in the uses of each, counted in
WordNet's tagged texts: "bank" is no synonym of "trust", though one of its senses is. A word with a wider sense, such as
"meal" for "lunch", counts `WIDER` as much, unless the sense is that of more than `WIDEST` others, as "person" is. Of
words with the same stem, each counts by how often it is used. The stem of a word that is used `FREQUENT` times in these
texts is followed by an asterisk.
"""

import gzip
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from quoteweave.core.text.tokens import words

LEAST, WIDER, WIDEST, MOST = 0.05, 0.4, 50, 8
FREQUENT = 20
OUTPUT = Path(__file__).parents[1] / "quoteweave" / "core" / "text" / "synonyms.txt.gz"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
Sense = tuple[str, str]
"""A part of speech, and where in its file the sense stands."""


def main(folder: Path) -> None:
    """Write the file."""
    uses, wider = sense_uses(folder), wider_senses(folder)
    keys, times = stems_of(uses, irregular_forms(folder)), {word: sum(senses.values()) for word, senses in uses.items()}
    of_key = Counter[str]()
    for word, word_keys in keys.items():
        of_key.update(dict.fromkeys(word_keys, times[word]))
    table = defaultdict[str, dict[str, tuple[float, str]]](dict)
    for word, other, likely in synonyms(uses, wider):
        for key, stem in product(keys[word], only_stem(other)):
            weighted = likely * times[word] / of_key[key], other
            if stem != key and weighted[0] >= LEAST:
                table[key][stem] = max(table[key].get(stem, weighted), weighted)
    lines = []
    frequent = {key for key, used in of_key.items() if used >= FREQUENT}
    for key in sorted(table.keys() | frequent):
        best = sorted(table[key].values(), key=lambda weighted: (-weighted[0], weighted[1]))[:MOST]
        lines.append(" ".join([key + "*" * (key in frequent), *(other for _, other in best)]) + "\n")
    OUTPUT.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    print(f"{OUTPUT}: {len(lines)} words, {OUTPUT.stat().st_size / 1000:.0f} kB")


def stems_of(words_known: Iterable[str], irregular: dict[str, list[str]]) -> dict[str, set[str]]:
    """The stems of all forms of each word."""
    return {
        word: {stem for form in (word, word.replace("-", ""), *irregular.get(word, ())) for stem in only_stem(form)}
        for word in words_known
    }


def only_stem(form: str) -> list[str]:
    """The stem of a word; nothing for what is several words, or none that is searched for."""
    stems = words(form) if _WORD.fullmatch(form) else []
    return stems if len(stems) == 1 else []


def sense_uses(folder: Path) -> dict[str, dict[Sense, float]]:
    """How often each sense of a word is used; one that no text has counts by its rank."""
    counts = defaultdict[tuple[str, str, int], float](float)
    for line in read(folder / "cntlist.rev"):
        key, number, count = line.split()
        word, _, place = key.partition("%")
        counts[word, "nvara"[int(place[0]) - 1], int(number)] += int(count)
    uses = defaultdict[str, dict[Sense, float]](dict)
    for part, name in FILES.items():
        for line in read(folder / f"index.{name}"):
            word, *fields = line.split()
            for rank, sense in enumerate(fields[-int(fields[1]) :], 1):
                uses[word][part, sense] = counts[word, part, rank] + 1 / rank
    return uses


def wider_senses(folder: Path) -> dict[Sense, list[Sense]]:
    """The senses directly above each sense (hypernyms), without those that stand above very many."""
    pattern = re.compile(r" @ (\d{8}) ([nvar])")
    above = {
        (part, line[:8]): [(part_above, sense) for sense, part_above in pattern.findall(line.partition("|")[0])]
        for part, name in FILES.items()
        for line in read(folder / f"data.{name}")
    }
    below = Counter(sense for senses in above.values() for sense in senses)
    return {sense: [wider for wider in senses if below[wider] <= WIDEST] for sense, senses in above.items()}


def irregular_forms(folder: Path) -> dict[str, list[str]]:
    """The irregular forms of words: "bought" of "buy"."""
    forms = defaultdict[str, list[str]](list)
    for name in FILES.values():
        for line in read(folder / f"{name}.exc"):
            form, *bases = line.split()
            for base in bases:
                forms[base].append(form)
    return forms


def synonyms(uses: dict[str, dict[Sense, float]], wider: dict[Sense, list[Sense]]) -> Iterator[tuple[str, str, float]]:
    """Each word, each other that may mean the same, and how likely it does."""
    shares = {
        word: {sense: used / sum(senses.values()) for sense, used in senses.items()} for word, senses in uses.items()
    }
    having = defaultdict[Sense, list[tuple[str, float]]](list)
    for word, senses in shares.items():
        for sense, share in senses.items():
            having[sense].append((word, share))
    for word, senses in shares.items():
        likely = defaultdict[str, float](float)
        for sense, share in senses.items():
            for also, weight in ((sense, 1.0), *((above, WIDER) for above in wider[sense])):
                for other, other_share in having[also]:
                    likely[other] += weight * share * other_share
        yield from ((word, other, total) for other, total in likely.items() if total >= LEAST and other != word)


def read(path: Path) -> Iterator[str]:
    """The lines of a file of WordNet, without its licence, whose lines begin with two spaces."""
    return (line for line in path.read_text("latin-1").splitlines() if not line.startswith("  "))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
