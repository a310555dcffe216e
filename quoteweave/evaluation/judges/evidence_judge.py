"""Chat models that split responses into cited sentences and grade their support (MCiteBench, arXiv 2503.02589).

There are three grades. Support of a statement by everything that it cites together: 0, 0.5 or 1 (section 4 and its
appendix; concatenated as in the first version). Relevance of one cited item to a statement: 0 or 1. Accuracy of an
answer: 0, 1 or 2, with one rubric for explanation questions and another for locating questions. All prompts are our
own, so published grades or splits are not claimed to be reproduced.
"""

import json
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from quoteweave.core.chat.completions import ChatMessage
from quoteweave.core.chat.prompts import Prompt, load_prompt
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import ChatModel, CitedSentence, Grade
from quoteweave.core.records import Quote, Record
from quoteweave.evaluation.judges.chat import (
    ImageReader,
    Scale,
    UnreadableReply,
    ask_for_scores,
    ask_judge,
    image_parts,
    indent,
    quotes_as_text,
    user_message,
)
from quoteweave.evaluation.judges.evidence_verdicts import ACCURACY_SCALE, RELEVANCE_SCALE, SUPPORT_SCALE
from quoteweave.evaluation.text.responses import answer_of
from quoteweave.evaluation.text.source_marks import item_name, source_marks

PROMPT = "judge_split"
_MAX_MISSING_SHARE = 0.2
"""The share of an answer's words that a split may lack: bracketed marks, and small omissions."""


class _Sentence(Record):
    sentence: str
    sources: tuple[str, ...] = ()


_SENTENCES = TypeAdapter(tuple[_Sentence, ...])


class ChatSplitter:
    """Implements `core.protocols.Splitter`; after an unreadable reply, the model is asked once more.

    `prompts_folder` may contain its own `judge_split.txt` (field: `$answer`). Raises UsageError if it is unreadable.
    """

    by_rule = False

    def __init__(self, model: ChatModel, *, prompts_folder: Path | None = None) -> None:
        self.model = model
        self._prompt = load_prompt(PROMPT, prompts_folder)

    @property
    def name(self) -> str:
        """The model, and the beginning of its prompt's hash."""
        return f"{self.model.name} {self._prompt.sha256[:8]}"

    async def split(self, response: str) -> list[CitedSentence]:
        """All sentences in order. Raises EndpointError if the model fails, or twice replies without such a list."""
        message = user_message(self._prompt.render({"answer": indent(response)}))
        parsed = await ask_judge(self.model, [message], lambda reply: read_sentences(reply, response))
        if parsed.value is None:
            raise EndpointBadResponse(f"{self.model.name} did not split the response: {parsed.error}")
        return parsed.value


def read_sentences(reply: str, response: str) -> list[CitedSentence]:
    """The sentences of a reply; thinking and text around the list are ignored.

    Raises UnreadableReply if there is no such list, and if it lacks many words of the response: a sentence that is left
    out would count as free of errors.
    """
    answer = answer_of(reply, "own")
    start, end = answer.find("["), answer.rfind("]")
    try:
        sentences = _SENTENCES.validate_python(json.loads(answer[start : end + 1]))
    except ValidationError as error:
        raise UnreadableReply(f"the list has a fault: {describe_validation_error(error)}") from error
    except ValueError as error:
        raise UnreadableReply("there is no whole JSON array in it") from error
    words_in_reply = {word for entry in sentences for word in _words(entry.sentence)}
    cited = {item_name(name) for entry in sentences for name in entry.sources}
    missing = [word for word in _words(_without_mentions(response, cited)) if word not in words_in_reply]
    if len(missing) > _MAX_MISSING_SHARE * max(1, len(_words(response))) + 1:
        raise UnreadableReply(f"it leaves out {pluralize(len(missing), 'word')} of the answer, such as {missing[0]!r}")
    return [
        CitedSentence(
            text=entry.sentence,
            cited=tuple(dict.fromkeys(item_name(name) for name in entry.sources)),
            written=entry.sources,
        )
        for entry in sentences
        if entry.sentence.strip()
    ]


def _without_mentions(text: str, items: Container[str]) -> str:
    """The text without mentions of these items: "(Table 2)" says nothing if Table 2 is among the sentence's sources."""
    parts, end = [], 0
    for mark in source_marks(text):
        if all(item in items for item in mark.items):
            parts.append(text[end : mark.start])
            end = mark.end
    return " ".join([*parts, text[end:]])


def _words(text: str) -> list[str]:
    words = ("".join(filter(str.isalpha, word)).casefold() for word in text.split())
    return [word for word in words if word]


EXPLANATION = "explanation"


class ChatEvidenceJudge:
    """Implements `core.protocols.EvidenceJudge` with a chat model.

    After an unreadable reply, the model is asked once more; after that, the grade is undefined.

    The model reads the words of each quote below its id; with `images`, it also sees the crops. `prompts_folder` may
    contain its own `judge_support.txt` and `judge_relevance.txt` (fields: `$statement`, `$evidence`), and
    `judge_explanation.txt` and `judge_locating.txt` (`$question`, `$gold_answer`, `$answer`). Raises UsageError for
    prompts that cannot be read; its methods raise it for prompts with other fields and if there is no endpoint.
    """

    def __init__(
        self, model: ChatModel, *, prompts_folder: Path | None = None, images: ImageReader | None = None
    ) -> None:
        self.model = model
        self._images = images
        self._support, self._relevance, self._explanation, self._locating = (
            load_prompt(f"judge_{name}", prompts_folder) for name in ("support", "relevance", EXPLANATION, "locating")
        )

    @property
    def name(self) -> str:
        """The model, and the beginnings of its prompts' hashes."""
        prompts = (self._support, self._relevance, self._explanation, self._locating)
        return f"{self.model.name} {'-'.join(prompt.sha256[:8] for prompt in prompts)}"

    async def support(self, statement: str, evidence: Sequence[Quote]) -> Grade:
        """How far all of the evidence together supports the statement."""
        return await self._grade(
            self._support, {"support": SUPPORT_SCALE}, self._shown(self._support, statement, evidence)
        )

    async def relevance(self, statement: str, item: Quote) -> Grade:
        """Whether one cited item is relevant to the statement."""
        message = self._shown(self._relevance, statement, [item])
        return await self._grade(self._relevance, {"relevance": RELEVANCE_SCALE}, message)

    async def accuracy(self, question: str, gold_answer: str, answer: str, *, question_type: str | None) -> Grade:
        """How right an answer is, 0 to 2, not yet normalised. All but `explanation` questions have one right answer."""
        prompt = self._explanation if question_type == EXPLANATION else self._locating
        fields = {"question": indent(question), "gold_answer": indent(gold_answer), "answer": indent(answer)}
        return await self._grade(prompt, {"accuracy": ACCURACY_SCALE}, user_message(prompt.render(fields)))

    def _shown(self, prompt: Prompt, statement: str, evidence: Sequence[Quote]) -> ChatMessage:
        quotes = [(quote.id, quote) for quote in evidence]
        text = prompt.render({"statement": indent(statement), "evidence": quotes_as_text(quotes)})
        return user_message(text, image_parts(quotes, self._images))

    async def _grade(self, prompt: Prompt, scale: Mapping[str, Scale], message: ChatMessage) -> Grade:
        """The score of the only field of `scale`."""
        reply = await ask_for_scores(self.model, [message], scale)
        return Grade(
            score=None if reply.value is None else next(iter(reply.value.values())),
            error=reply.error,
            raw=reply.raw,
            model=self.model.name,
            prompt=prompt.sha256,
            usage=reply.usage,
            attempts=reply.attempts,
        )
