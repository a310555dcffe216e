"""The judge of answers: five criteria, 0 to 5 (MMDocRAG, arXiv 2505.16470, section 4.1 and appendix A), our own prompt.

The criteria are the paper's; what the numbers mean is ours, and so is the prompt. Judgements by it are not to be set
beside published ones as if they had been made alike.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quoteweave.core.answers import Context
from quoteweave.core.chat.prompts import load_prompt
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.protocols import ChatModel
from quoteweave.evaluation.judgements import ASPECTS, HIGHEST
from quoteweave.evaluation.judges.asking import Message, ask_for_scores
from quoteweave.evaluation.judges.shown import (
    ImageReader,
    in_words,
    indented,
    named,
    pictures,
    user_message,
)
from quoteweave.evaluation.judges.verdicts import Verdict
from quoteweave.evaluation.responses import answer_of

PROMPT = "judge"
SCALE = tuple(float(score) for score in range(HIGHEST + 1))
NO_ANSWER = "(there is no answer)"


@dataclass(frozen=True, slots=True)
class Request:
    """All that a judge is sent about one answer."""

    example: str
    messages: Sequence[Message]

    @property
    def sha256(self) -> str:
        """Of the messages, pictures included, in hexadecimal."""
        return hashlib.sha256(json.dumps(self.messages, sort_keys=True).encode()).hexdigest()


class AnswerJudge:
    """Grades answers with a chat model.

    The model reads the question, the gold answer (the short one where there is no other), the quotes that the answer
    was written from, in words, and the answer without its thinking. With `images`, it sees the crops of image quotes as
    well. `prompts_folder` may hold its own `judge.txt` (fields: `$question`, `$gold_answer`, `$text_quotes`,
    `$image_quotes`, `$answer`). Raises UsageError when the prompt cannot be read.
    """

    def __init__(
        self, model: ChatModel, *, prompts_folder: Path | None = None, images: ImageReader | None = None
    ) -> None:
        self.model = model
        self.prompt = load_prompt(PROMPT, prompts_folder)
        self._images = images

    def request(self, prediction: Prediction, example: Example) -> Request:
        """What is sent. Raises UsageError for a prompt of other fields."""
        context = prediction.context or example.context or Context()
        images = named(context.images, "image")
        gold = example.reference.answer or example.reference.short_answer
        answer = answer_of(prediction.response or "", "own")
        prompt = self.prompt.render(
            {
                "question": indented(example.query.text),
                "gold_answer": indented(gold or "(the dataset gives none)"),
                "text_quotes": in_words(named(context.texts, "text")),
                "image_quotes": in_words(images),
                "answer": indented(answer if answer.strip() else NO_ANSWER),
            }
        )
        return Request(example.id, [user_message(prompt, pictures(images, self._images))])

    async def judge(self, request: Request) -> Verdict:
        """Five scores or the reason why there are none. Raises UsageError where there is no endpoint."""
        asked = await ask_for_scores(self.model, request.messages, dict.fromkeys(ASPECTS, SCALE))
        return Verdict(
            example=request.example,
            scores=None if asked.said is None else {name: int(score) for name, score in asked.said.items()},
            error=asked.error,
            raw=asked.raw,
            model=self.model.name,
            served_as=asked.served_as,
            prompt=self.prompt.sha256,
            request=request.sha256,
            usage=asked.usage,
            attempts=asked.attempts,
        )
