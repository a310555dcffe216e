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
from quoteweave.testing.literature.records import (
    Finding,
    MadeExcerpt,
    MadeLibrary,
    MadePaper,
    Phrase,
    Section,
    topics,
    wording,
)

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

    `year` is that of the paper that contains the excerpt, as in CiteME; `split` is `train` for every tenth excerpt and
    `test` for the others. Raises OSError where the file cannot be written.
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
"""How many excerpts cite a missing paper on a topic of the library. Other excerpts cite papers on a withheld topic."""
_FAR_SOURCES = ("perovskite solar cells", "lithium batteries", "earthquake ground motion", "glacier melt")
_PREPRINTS = ("Computer Science", "Materials Science", "Physics", "Geology")


@cache
def make_library(seed: int = 17) -> MadeLibrary:
    """Make the library; the same for the same seed, on every machine."""
    return _LibraryMaker(seed).library()


class _LibraryMaker:
    """The state while the library is made."""

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
        """Return the finished library."""
        citing = [(draft, cited) for draft in self._drafts for cited in draft.cites]
        texts = {cited: self._writer.excerpt(cited) for _, cited in citing}
        numbers = self._chance.sample(range(10_000_000), len(self._drafts))
        papers = [self._paper(draft, number, texts) for draft, number in zip(self._drafts, numbers, strict=True)]
        excerpts = [self._excerpt(draft, cited, texts[cited]) for draft, cited in citing]
        known = [excerpt for excerpt in excerpts if excerpt.kind != "absent"]
        return MadeLibrary(
            papers=tuple(sorted(papers, key=lambda paper: paper.id)),
            excerpts=tuple(_numbered(known, "excerpt")),
            absent=tuple(_numbered([excerpt for excerpt in excerpts if excerpt.kind == "absent"], "absent")),
        )

    def _plan_absent(self, withheld: TopicPlan) -> None:
        """Plan sentences that cite papers missing from the library: on topics that it has, or on one that it lacks."""
        for plan in self._plans[:NEAR_ABSENT]:
            self._last_citing(plan).cites.append(Citing(plan.absent[0], "absent"))
        far = (plan for plan in self._plans if plan.topic.name in _FAR_SOURCES)
        for plan, target in zip(far, withheld.drafts, strict=False):
            self._last_citing(plan).cites.append(Citing(target, "absent"))

    @staticmethod
    def _last_citing(plan: TopicPlan) -> Draft:
        return [draft for draft in plan.drafts if draft.role == "citing"][-1]

    def _groups(self) -> list[tuple[str, ...]]:
        """The people of each group of a topic and, last, those who worked on it before."""
        chance = self._chance
        families = chance.sample(wording()["family_names"], 5 * (GROUPS + 1))
        people = [f"{chance.choice(wording()['given_names'])} {family}" for family in families]
        return [tuple(people[5 * group : 5 * group + 5]) for group in range(GROUPS + 1)]

    def _paper(self, draft: Draft, number: int, texts: Mapping[Citing, str]) -> MadePaper:
        chance, topic, day = self._chance, draft.topic, draft.day
        lacking = [cited.target for cited in draft.cites if cited.target not in self._known]
        marks = {cited_draft: position for position, cited_draft in enumerate([*draft.references, *lacking], 1)}
        passages = [texts[cited].replace(MARK, f"[{marks[cited.target]}]") for cited in draft.cites]
        people = self._authors[topic.name][draft.group]
        citing = sum(draft in other.references for other in self._drafts)
        paper = MadePaper(
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
            references=tuple(self._ids[cited_draft] for cited_draft in draft.references),
            other_references=tuple(self._entry(cited_draft) for cited_draft in lacking),
            citations=citing + int((2026 - day.year) * math.exp(chance.gauss(0.6, 1.0))),
            open_access=self._is_open(draft),
        )
        # Papers on arXiv are open access.
        return paper if paper.open_access else paper.model_copy(update={"arxiv": None})

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
        cited = "full_text" in self._citing_kinds(draft)
        return cited or draft.role == "citing" or self._chance.random() < (0.15 if draft.role == "old" else 0.65)

    def _citing_kinds(self, draft: Draft) -> set[str]:
        """The kinds of the excerpts that cite a paper."""
        return {citing.kind for other in self._drafts for citing in other.cites if citing.target is draft}

    def _has_known_abstract(self, draft: Draft) -> bool:
        """Whether services know the abstract: of all papers except every ninth study that no excerpt cites."""
        return bool(self._citing_kinds(draft)) or draft.role != "study" or int(self._ids[draft], 16) % 9 > 0

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


MARK = "[CITATION]"
# What a direction is called: verbs in past and present, with an object and without, and a noun.
_RAISED = {"raised": ("raised", "increased"), "rose": ("rose", "increased"), "change": ("rise",)}
_LOWERED = {"raised": ("lowered", "reduced"), "rose": ("fell", "decreased"), "change": ("fall", "drop", "decline")}
_CITED_RAISED = {"rise": ("go up", "grow"), "rose": ("went up", "grew")}
_CITED_LOWERED = {"rise": ("go down", "shrink"), "rose": ("went down", "shrank")}


class Writer:
    """Words the papers of the library, always the same for the same chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._titles: set[str] = set()
        self._designs: dict[Draft, dict[str, str]] = {}

    def title(self, draft: Draft) -> str:
        """A title that no other paper has."""
        kind = {"study": "titles", "citing": "titles"}.get(draft.role, f"{draft.role}_titles")
        templates = list(wording()[kind])
        self._chance.shuffle(templates)
        for template in [*templates, "{f}, {o} and {s}: a study by {m}", "{f} and {s}: further results from {d}"]:
            title = self._fill(template, draft, article=False).rstrip(".")
            if title not in self._titles:
                self._titles.add(title)
                return title
        raise ValueError(f"{draft.topic.name} has too few titles")

    def abstract(self, draft: Draft) -> str:
        """An abstract of 60 to 150 words."""
        if draft.role == "old":
            return self._old_abstract(draft)
        about = self._chance.sample(draft.topic.background, 2)
        if draft.role == "survey":
            return " ".join([about[0], self._pick("survey_aims", draft), *self._restated(draft)])
        if draft.role == "resource":
            parts = [*about, self._pick("resource_aims", draft), self._pick("methods", draft)]
            return " ".join([*parts, self._pick("resource_closings", draft), self._pick("closings", draft)])
        first = "findings" if draft.number_in_abstract else "findings_without_number"
        middle = [self._pick("aims", draft), self._pick("methods", draft), self._pick(first, draft)]
        end = [self._pick("second_findings", draft, draft.findings[1]), self._pick("closings", draft)]
        if draft.restates:
            of_one = [about[0], end[0]] if len(draft.restates) == 1 else ["", ""]
            return " ".join([of_one[0], *self._restated(draft), *middle, of_one[1]]).strip()
        return " ".join([*about, *middle, *end])

    def _old_abstract(self, draft: Draft) -> str:
        first = "findings" if draft.number_in_abstract else "findings_without_number"
        parts = [self._pick(kind, draft) for kind in ("old_aims", "old_methods", first, "closings")]
        return " ".join([*self._chance.sample(draft.topic.background, 2), *parts])

    def sections(self, draft: Draft, passages: Sequence[str], marks: Mapping[Draft, int]) -> tuple[Section, ...]:
        """The full text; `passages` are its excerpts with their marks, `marks` the numbers of its references."""
        kind = "survey_" if draft.role == "survey" else ""
        cited = [
            f"{self._sentence(self.restated(other.findings[0]))[:-1]} [{number}]."
            for other, number in marks.items()
            if other.findings
        ]
        parts = {
            "Introduction": [" ".join(draft.topic.background), " ".join(cited[:3]), *passages, self._aim(draft)],
            "Methods": [self._pick("methods", draft), " ".join(self._chance.sample(wording()["details"], 4))],
            "Results": [self._pick("findings", draft, finding) for finding in draft.findings],
            "Related work" if draft.role != "survey" else "What has been found": cited[3:],
            "Discussion": [" ".join(self._chance.sample(wording()["discussion"], 3))],
            "Conclusion": [" ".join(self._chance.sample(wording()[f"{kind}closings"], 2))],
        }
        return tuple(Section(heading=name, text="\n\n".join(texts)) for name, texts in parts.items() if any(texts))

    def _aim(self, draft: Draft) -> str:
        kind = {"survey": "survey_aims", "resource": "resource_aims", "old": "old_aims"}.get(draft.role, "aims")
        return f"{self._chance.choice(wording()['introduction'])} {self._pick(kind, draft)}"

    def _restated(self, draft: Draft) -> list[str]:
        template = "It is reported that {r}." if draft.role == "survey" else None
        findings = [self.restated(other.findings[0]) for other in draft.restates]
        return [
            self._sentence((template or self._chance.choice(wording()["restating"])).format(r=finding))
            for finding in findings
        ]

    def restated(self, finding: Finding) -> str:
        """A finding in the words of those who cite it, with its number; no full sentence."""
        template: str = self._chance.choice(wording()["restated"])
        return template.format_map(self._slots(finding, cited="fos") | {"n": f"{finding.percent:g}"})

    def excerpt(self, citing: Citing) -> str:
        """Some sentences, in one of which the mark stands."""
        finding, kind = citing.target.findings[citing.finding], citing.kind
        exact = kind in ("full_text", "same_group")
        amount = f"by {finding.percent:g}%" if exact else _rough_amount(finding.percent)
        cited = "".join(self._chance.sample("fos", 2 if kind == "plain" else self._chance.choice((2, 3))))
        claim: str = self._chance.choice(wording()["old_claims" if kind == "old" else "claims"])
        slots = self._slots(finding, cited=cited, verbs=_CITED_RAISED if finding.raised else _CITED_LOWERED)
        sentence = self._sentence(claim.format_map(slots | {"amount": amount}))
        if kind == "same_group":
            sentence += f" That work drew on {finding.dataset}."
        lead, tail = self._chance.choice(wording()["leads"]), self._chance.choice(wording()["tails"])
        return " ".join([lead, sentence, tail] if self._chance.random() < 0.5 else [sentence, tail])

    def _pick(self, kind: str, draft: Draft, finding: Finding | None = None) -> str:
        return self._fill(self._chance.choice(wording()[kind]), draft, finding)

    def _fill(self, template: str, draft: Draft, finding: Finding | None = None, *, article: bool = True) -> str:
        finding = finding or (draft.findings[0] if draft.findings else None)
        slots = {"t": draft.topic.name} | self._design(draft)
        if finding is not None:
            slots |= self._slots(finding) | {"n": f"{finding.percent:g}"}
        if not article:
            slots |= {name: slots[name].removeprefix("the ") for name in "fos" if name in slots}
        return self._sentence(template.format_map(slots))

    def _design(self, draft: Draft) -> dict[str, str]:
        """The method, number of cases and dataset of a paper, the same in its abstract and its sections."""
        if draft not in self._designs:
            topic, chance = draft.topic, self._chance
            method, dataset = chance.choice(topic.methods), chance.choice(topic.datasets)
            self._designs[draft] = {"m": method, "k": str(chance.randint(24, 2400)), "d": dataset}
        return self._designs[draft]

    def _slots(
        self, finding: Finding, *, cited: str = "", verbs: Mapping[str, tuple[str, ...]] | None = None
    ) -> dict[str, str]:
        """What the templates' fields stand for; `cited` names those said in the words of others."""
        phrases: dict[str, Phrase] = {"f": finding.factor, "o": finding.outcome, "s": finding.subject}
        slots = {name: phrase.cited if name in cited else phrase.original for name, phrase in phrases.items()}
        verbs = {**(_RAISED if finding.raised else _LOWERED), **(verbs or {})}
        return slots | {name: self._chance.choice(choices) for name, choices in verbs.items()} | {"d": finding.dataset}

    def _sentence(self, text: str) -> str:
        text = text if text.endswith(".") else f"{text}."
        return text[0].upper() + text[1:]


def _rough_amount(percent: float) -> str:
    return next(str(words) for most, words in wording()["amounts"] if percent <= most)
