"""Questions over passages that are single words, and a model that says which of these entail what."""

from collections.abc import Mapping, Sequence

from builders import make_context, make_example, make_quote

from quoteweave.core.answers import Context
from quoteweave.core.examples import Example, Prediction


def passages(*texts: str, images: Sequence[str] = ()) -> Context:
    shown = [make_quote(id=f"image{rank}", kind="image", vlm_text=text or None) for rank, text in enumerate(images, 1)]
    return make_context(*(make_quote(text, id=f"text{rank}") for rank, text in enumerate(texts, 1)), *shown)


def asked(response: str | None, context: Context | None, name: str = "q") -> tuple[Prediction, Example]:
    prediction = Prediction(example=name, scope="context", response=response)
    return prediction, make_example(name, context=context)


class ListedEntailment:
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
