"""Words what was planned: titles, abstracts, sections and excerpts."""

import random
from collections.abc import Mapping, Sequence

from quoteweave.testing.literature.drafts import Citing, Draft
from quoteweave.testing.literature.records import Finding, Phrase, Section, wording

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
        found = [self.restated(other.findings[0]) for other in draft.restates]
        return [
            self._sentence((template or self._chance.choice(wording()["restating"])).format(r=each)) for each in found
        ]

    def restated(self, finding: Finding) -> str:
        """A finding in the words of those who cite it, with its number; no full sentence."""
        template: str = self._chance.choice(wording()["restated"])
        return template.format_map(self._slots(finding, cited="fos") | {"n": f"{finding.percent:g}"})

    def excerpt(self, citing: Citing) -> str:
        """Some sentences, in one of which the mark stands."""
        finding, kind = citing.target.findings[citing.finding], citing.kind
        exact = kind in ("full_text", "same_group")
        amount = f"by {finding.percent:g}%" if exact else _about(finding.percent)
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
        slots = {name: each.cited if name in cited else each.own for name, each in phrases.items()}
        verbs = {**(_RAISED if finding.raised else _LOWERED), **(verbs or {})}
        return slots | {name: self._chance.choice(each) for name, each in verbs.items()} | {"d": finding.dataset}

    def _sentence(self, text: str) -> str:
        text = text if text.endswith(".") else f"{text}."
        return text[0].upper() + text[1:]


def _about(percent: float) -> str:
    return next(str(said) for most, said in wording()["amounts"] if percent <= most)
