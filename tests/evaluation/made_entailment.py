"""Questions over passages that are single words, and a model that says which of these entail what."""

from collections.abc import Mapping, Sequence

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction, Reference
from quoteweave.core.records import Hit, Kind, Query, Quote


def passages(*texts: str, images: Sequence[str] = ()) -> Context:
    def hits(kind: Kind, words: Sequence[str]) -> tuple[Hit, ...]:
        return tuple(
            Hit(rank=rank, score=1 / rank, quote=_quote(kind, rank, text)) for rank, text in enumerate(words, start=1)
        )

    return Context(texts=hits("text", texts), images=hits("image", images))


def _quote(kind: Kind, rank: int, text: str) -> Quote:
    return Quote(
        id=f"{kind}{rank}",
        document="a.pdf",
        page=0,
        page_label="?",
        bbox=(0, 0, 0, 0),
        kind=kind,
        layout="paragraph" if kind == "text" else "figure",
        text=text if kind == "text" else "",
        vlm_text=text if kind == "image" and text else None,
    )


def asked(response: str | None, context: Context | None, name: str = "q") -> tuple[Prediction, Example]:
    prediction = Prediction(example=name, scope="context", response=response)
    return prediction, Example(id=name, query=Query(text="?"), context=context, reference=Reference())


class Says:
    """An entailment model: claim to the sets of passages that entail it, those with more passages included."""

    name = "says"

    def __init__(self, entailing: Mapping[str, Sequence[str]]) -> None:
        self._entailing = entailing
        self.calls: list[list[tuple[str, str]]] = []

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """A passage set is written "a b"."""
        self.calls.append(list(pairs))
        return [self._says(set(premise.split("\n")), claim) for premise, claim in pairs]

    def _says(self, premise: set[str], claim: str) -> bool:
        return any(set(enough.split()) <= premise for enough in self._entailing.get(claim, ()))
