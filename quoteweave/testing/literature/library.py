"""Makes the library: 500 papers of twenty topics, 60 excerpts whose sources it has, and 12 whose sources it lacks.

The excerpts can be written in the form of CiteME's table.
"""

import csv
import hashlib
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from quoteweave.attribution.literature.sources.papers import PublicationDate
from quoteweave.testing.literature.drafts import GROUPS, Citing, Draft, TopicPlan, add_references
from quoteweave.testing.literature.records import MadeExcerpt, MadeLibrary, MadePaper, topics, wording
from quoteweave.testing.literature.writing import MARK, Writer

COLUMNS = (
    "id",
    "excerpt",
    "target_paper_title",
    "target_paper_url",
    "source_paper_title",
    "source_paper_url",
    "year",
    "split",
)


def write_citeme(library: MadeLibrary, path: Path) -> None:
    """Write the excerpts whose sources the library has as a CSV file with CiteME's columns.

    `year` is that of the paper that the excerpt is from, as in CiteME; `split` is `train` for every tenth excerpt and
    `test` else. Raises OSError where the file cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, excerpt in enumerate(library.excerpts, 1):
            target, source = library.paper(str(excerpt.target)), library.paper(excerpt.source)
            split = "test" if number % 10 else "train"
            row = (target.title, page_of(target), source.title, page_of(source), source.day.year, split)
            writer.writerow((excerpt.id, excerpt.text, *row))


def page_of(paper: MadePaper) -> str:
    """The address of a paper's page at Semantic Scholar."""
    return f"https://www.semanticscholar.org/paper/{paper.id}"


NEAR_ABSENT = 8
"""Excerpts whose source is missing from a topic of the library; as many fields as the withheld topic has follow."""
_FAR_SOURCES = ("perovskite solar cells", "lithium batteries", "earthquake ground motion", "glacier melt")
_PREPRINTS = ("Computer Science", "Materials Science", "Physics", "Geology")


@cache
def make_library(seed: int = 17) -> MadeLibrary:
    """Make the library; the same for the same seed, on every machine."""
    return _Making(seed).library()


class _Making:
    """One making of the library."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._chance = random.Random(f"library {seed}")
        self._writer = Writer(random.Random(f"words {seed}"))
        plans = [
            TopicPlan(topic, number, random.Random(f"{topic.name} {seed}")) for number, topic in enumerate(topics())
        ]
        self._plans = [plan for plan in plans if not plan.topic.withheld]
        self._drafts = [draft for plan in self._plans for draft in plan.drafts]
        self._known = set(self._drafts)
        self._plan_absent(next(plan for plan in plans if plan.topic.withheld))
        add_references(self._drafts, self._chance)
        self._titles = {draft: self._writer.title(draft) for plan in plans for draft in (*plan.drafts, *plan.absent)}
        self._authors = {plan.topic.name: self._groups() for plan in plans}
        self._ids = {draft: self._digest(title)[:40] for draft, title in self._titles.items()}

    def library(self) -> MadeLibrary:
        """Everything, written."""
        citing = [(draft, cited) for draft in self._drafts for cited in draft.cites]
        texts = {cited: self._writer.excerpt(cited) for _, cited in citing}
        numbers = self._chance.sample(range(10_000_000), len(self._drafts))
        papers = [self._paper(draft, number, texts) for draft, number in zip(self._drafts, numbers, strict=True)]
        excerpts = [self._excerpt(draft, cited, texts[cited]) for draft, cited in citing]
        known = [each for each in excerpts if each.kind != "absent"]
        return MadeLibrary(
            papers=tuple(sorted(papers, key=lambda paper: paper.id)),
            excerpts=tuple(_numbered(known, "excerpt")),
            absent=tuple(_numbered([each for each in excerpts if each.kind == "absent"], "absent")),
        )

    def _plan_absent(self, withheld: TopicPlan) -> None:
        """Sentences that cite what the library lacks: a paper of its own topics, or a topic that it does not have."""
        for plan in self._plans[:NEAR_ABSENT]:
            self._last_citing(plan).cites.append(Citing(plan.absent[0], "absent"))
        far = (plan for plan in self._plans if plan.topic.name in _FAR_SOURCES)
        for plan, target in zip(far, withheld.drafts, strict=False):
            self._last_citing(plan).cites.append(Citing(target, "absent"))

    @staticmethod
    def _last_citing(plan: TopicPlan) -> Draft:
        return [draft for draft in plan.drafts if draft.role == "citing"][-1]

    def _groups(self) -> list[tuple[str, ...]]:
        """The people of each group of a topic, and of those who worked before them."""
        chance = self._chance
        families = chance.sample(wording()["family_names"], 5 * (GROUPS + 1))
        people = [f"{chance.choice(wording()['given_names'])} {family}" for family in families]
        return [tuple(people[5 * group : 5 * group + 5]) for group in range(GROUPS + 1)]

    def _paper(self, draft: Draft, number: int, texts: Mapping[Citing, str]) -> MadePaper:
        chance, topic, day = self._chance, draft.topic, draft.day
        lacking = [cited.target for cited in draft.cites if cited.target not in self._known]
        marks = {other: place for place, other in enumerate([*draft.references, *lacking], 1)}
        passages = [texts[cited].replace(MARK, f"[{marks[cited.target]}]") for cited in draft.cites]
        people = self._authors[topic.name][draft.group]
        citing = sum(draft in other.references for other in self._drafts)
        made = MadePaper(
            id=self._ids[draft],
            corpus_id=200_000_000 + number,
            openalex=f"W4{number:09}",
            doi=f"10.5555/{_initials(draft)}.{day.year}.{number:07}" if chance.random() < 0.85 else None,
            arxiv=self._arxiv(draft, number),
            title=self._titles[draft],
            abstract=self._writer.abstract(draft),
            abstract_known=self._has_known_abstract(draft),
            authors=tuple(chance.sample(people, 2 if draft.role == "old" else chance.randint(2, 5))),
            group=f"{topic.name} {draft.group + 1}",
            venue=self._venue(draft),
            topic=topic.name,
            field=topic.field,
            role=draft.role,
            day=day,
            published=_published(draft),
            findings=draft.findings,
            sections=self._writer.sections(draft, passages, marks),
            references=tuple(self._ids[other] for other in draft.references),
            other_references=tuple(self._entry(other) for other in lacking),
            citations=citing + int((2026 - day.year) * math.exp(chance.gauss(0.6, 1.0))),
            open_access=self._is_open(draft),
        )
        return made if made.open_access else made.model_copy(update={"arxiv": None})  # what arXiv has is open

    def _entry(self, draft: Draft) -> str:
        people = ", ".join(self._authors[draft.topic.name][draft.group][:3])
        return f"{people}. {self._titles[draft]}. {self._venue(draft)}, {draft.day.year}."

    def _venue(self, draft: Draft) -> str:
        venues = draft.topic.venues
        return venues[int(self._digest(self._titles[draft]), 16) % len(venues)]

    def _arxiv(self, draft: Draft, number: int) -> str | None:
        if draft.topic.field not in _PREPRINTS or draft.day.year < 2008 or self._chance.random() < 0.4:
            return None
        return f"{draft.day:%y%m}.{number % 100_000:05}"

    def _is_open(self, draft: Draft) -> bool:
        cited = any(one.kind == "full_text" and one.target is draft for other in self._drafts for one in other.cites)
        return cited or draft.role == "citing" or self._chance.random() < (0.15 if draft.role == "old" else 0.65)

    def _has_known_abstract(self, draft: Draft) -> bool:
        """All but that of every ninth study that no excerpt cites."""
        cited = any(one.target is draft for other in self._drafts for one in other.cites)
        return cited or draft.role != "study" or int(self._ids[draft], 16) % 9 > 0

    def _excerpt(self, draft: Draft, cited: Citing, text: str) -> MadeExcerpt:
        return MadeExcerpt(
            id="-",
            text=text,
            source=self._ids[draft],
            target=None if cited.kind == "absent" else self._ids[cited.target],
            kind=cited.kind,
            traps=tuple(self._ids[other] for other in cited.traps),
            later=tuple(self._ids[other] for other in cited.later),
        )

    def _digest(self, text: str) -> str:
        return hashlib.sha256(f"{self._seed} {text}".encode()).hexdigest()


def _published(draft: Draft) -> PublicationDate | None:
    day = draft.day
    if draft.date_known == "nothing":
        return None
    if draft.date_known == "year":
        return PublicationDate(year=day.year)
    return PublicationDate(year=day.year, month=day.month, day=day.day)


def _initials(draft: Draft) -> str:
    return "".join(word[0] for word in draft.topic.venues[0].split() if word[0].isupper()).lower()


def _numbered(excerpts: Sequence[MadeExcerpt], name: str) -> Iterator[MadeExcerpt]:
    for number, excerpt in enumerate(excerpts, 1):
        yield excerpt.model_copy(update={"id": f"{name}-{number:02}"})
