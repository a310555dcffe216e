"""Plans the papers of a topic: who found what and when, who restates it, and which sentence of which paper cites it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal, get_args

from quoteweave.testing.literature.records import ExcerptKind, Finding, Phrase, Role, Topic

GROUPS = 3
STUDIES_OF_A_GROUP = 4
EXCERPTS_OF_A_TOPIC = 3
EXCERPT_KINDS: tuple[ExcerptKind, ...] = get_args(ExcerptKind)


@dataclass(eq=False)
class Draft:
    """A paper before it is written."""

    topic: Topic
    role: Role
    group: int
    day: date
    findings: tuple[Finding, ...] = ()
    number_in_abstract: bool = True
    date_known: Literal["day", "year", "nothing"] = "day"
    restates: "list[Draft]" = field(default_factory=list)
    references: "list[Draft]" = field(default_factory=list)
    cites: "list[Citing]" = field(default_factory=list)


@dataclass(eq=False)
class Citing:
    """An excerpt before it is written: the source, which of its findings is meant, and what makes it hard."""

    target: Draft
    kind: ExcerptKind | Literal["absent"]
    finding: int = 0
    traps: Sequence[Draft] = ()
    later: Sequence[Draft] = ()


class TopicPlan:
    """The drafts of one topic: `drafts` are in the library; `absent` are cited by it but not in it."""

    def __init__(self, topic: Topic, number: int, chance: random.Random) -> None:
        self.topic = topic
        self._chance = chance
        self._used: set[tuple[str, str, str]] = set()
        self._lines = [self._line() for _ in range(GROUPS)]
        studies = [self._study(group, step) for group in range(GROUPS) for step in range(STUDIES_OF_A_GROUP)]
        old = [self._old(number % 2 == 1), self._old(chance.random() < 0.5)]
        sibling = self._sibling(studies[5])
        survey = self._restating("survey", self._day(2020), [studies[2], studies[6], studies[9]], has_findings=False)
        restating = [
            self._restating("restating", self._day(2019), [studies[1]]),
            self._restating("restating", self._day(2020), [studies[4]]),
        ]
        resources = [self._resource(), self._resource()]
        self.absent = [self._study(0, 3)]
        self.drafts = [*studies, *old, sibling, survey, *restating, *resources]
        citings = {
            "plain": Citing(studies[8], "plain"),
            "restated": Citing(studies[1], "restated", traps=[restating[0]]),
            "same_group": Citing(studies[5], "same_group", traps=[sibling]),
            "survey": Citing(studies[9], "survey", traps=[survey]),
            "full_text": Citing(studies[10], "full_text", finding=2 if number % 4 == 1 else 0),
            "old": Citing(old[0], "old"),
        }
        studies[10].number_in_abstract = number % 4 == 1
        first = number * EXCERPTS_OF_A_TOPIC
        kinds = [EXCERPT_KINDS[(first + step) % len(EXCERPT_KINDS)] for step in range(EXCERPTS_OF_A_TOPIC)]
        self._add_citing([citings[kind] for kind in kinds], number)

    def _add_citing(self, wanted: Sequence[Citing], number: int) -> None:
        """Add papers of 2021 and 2022 with an excerpt each, and later papers that restate what those cite."""
        citing = list[Draft]()
        for step, cited in enumerate(wanted):
            year = 2021 + step % 2
            paper = Draft(self.topic, "citing", step % GROUPS, self._day(year, last=150), self._findings(None))
            paper.date_known = "year" if step == 1 and number % 2 == 0 else "day"
            paper.cites.append(cited)
            cited.target.date_known = "year" if cited.kind == "old" else "day"
            citing.append(paper)
        months_later = citing[0].day + timedelta(days=self._chance.randint(40, 200))
        soon = self._restating("later", months_later, [wanted[0].target])
        soon.date_known = "year" if number % 2 else "day"
        late = self._restating(
            "later", self._day(self._chance.choice((2024, 2025))), [cited.target for cited in wanted[1:]]
        )
        late.date_known = "day"
        wanted[0].later = [soon]
        for cited in wanted[1:]:
            cited.later = [late]
        self.drafts += [*citing, soon, late]

    def _line(self) -> tuple[list[Phrase], list[Phrase], str]:
        """What a group works on: some factors and outcomes, and a dataset."""
        topic, chance = self.topic, self._chance
        factors = chance.sample(topic.factors, min(4, len(topic.factors)))
        return factors, chance.sample(topic.outcomes, 3), chance.choice(topic.datasets)

    def _study(self, group: int, step: int) -> Draft:
        day = self._day(2004 + 4 * step + self._chance.randint(0, 3))
        study = Draft(self.topic, "study", group, day, self._findings(group))
        study.date_known = self._draw_date_known(0.15, 0.08)
        return study

    def _old(self, soft: bool) -> Draft:
        draft = Draft(self.topic, "old", GROUPS, self._day(self._chance.randint(1962, 1998)), self._findings(None)[:1])
        draft.date_known = "year"
        draft.number_in_abstract = not soft
        return draft

    def _sibling(self, study: Draft) -> Draft:
        """A study in which the same group finds the same for another dataset, with another amount."""
        other_datasets = [name for name in self.topic.datasets if name != study.findings[0].dataset]
        dataset, day = self._chance.choice(other_datasets), study.day + timedelta(days=self._chance.randint(300, 700))
        findings = [
            finding.model_copy(update={"dataset": dataset, "percent": self._percent_far_from(finding.percent)})
            for finding in study.findings
        ]
        return Draft(self.topic, "study", study.group, day, tuple(findings))

    def _restating(self, role: Role, day: date, restates: Sequence[Draft], *, has_findings: bool = True) -> Draft:
        findings = self._findings(None) if has_findings else ()
        return Draft(self.topic, role, self._chance.randrange(GROUPS), day, findings, restates=list(restates))

    def _resource(self) -> Draft:
        day = self._day(self._chance.randint(2010, 2016))
        resource = Draft(self.topic, "resource", self._chance.randrange(GROUPS), day, self._findings(None)[:1])
        resource.date_known = self._draw_date_known(0.2, 0.3)
        return resource

    def _findings(self, group: int | None) -> tuple[Finding, ...]:
        """Three: of a factor on an outcome, of the factor on another outcome, and of another factor on the first."""
        topic, chance = self.topic, self._chance
        factors, outcomes, dataset = (topic.factors, topic.outcomes, "") if group is None else self._lines[group]
        while True:
            subject = chance.choice(topic.subjects)
            (factor, second_factor), (outcome, second_outcome) = chance.sample(factors, 2), chance.sample(outcomes, 2)
            triples = [(subject, factor, outcome), (subject, factor, second_outcome), (subject, second_factor, outcome)]
            names = [(s.original, f.original, o.original) for s, f, o in triples]
            if topic.withheld or self._used.isdisjoint(names):
                break
        self._used |= set(names)
        dataset = dataset or chance.choice(topic.datasets)
        return tuple(
            Finding(
                subject=s, factor=f, outcome=o, raised=chance.random() < 0.5, percent=self._percent(), dataset=dataset
            )
            for s, f, o in triples
        )

    def _percent(self) -> float:
        return self._chance.randint(41, 620) / 10

    def _percent_far_from(self, other: float) -> float:
        while abs((percent := self._percent()) - other) < 8:
            pass
        return percent

    def _draw_date_known(self, year: float, nothing: float) -> Literal["day", "year", "nothing"]:
        drawn = self._chance.random()
        return "nothing" if drawn < nothing else "year" if drawn < nothing + year else "day"

    def _day(self, year: int, *, last: int = 364) -> date:
        return date(year, 1, 1) + timedelta(days=self._chance.randint(0, last))


def add_references(drafts: Sequence[Draft], chance: random.Random) -> None:
    """Have each paper cite earlier ones: those it restates or has excerpts about, its own group's, and others."""
    for draft in drafts:
        earlier = [other for other in drafts if other.day < draft.day and other.role not in ("citing", "later")]
        needed = [*draft.restates, *(cited.target for cited in draft.cites if cited.target in drafts)]
        near = [other for other in earlier if other.topic is draft.topic and other not in needed]
        same_group = [other for other in near if other.group == draft.group]
        field = [
            other for other in earlier if other.topic.field == draft.topic.field and other.topic is not draft.topic
        ]
        more = 12 if draft.role == "survey" else chance.randint(2, 5)
        drawn = [
            *chance.sample(same_group, min(len(same_group), 2)),
            *chance.sample(near, min(len(near), more)),
            *chance.sample(field, min(len(field), chance.randint(0, 2))),
        ]
        draft.references = list(dict.fromkeys([*needed, *drawn]))
        chance.shuffle(draft.references)
