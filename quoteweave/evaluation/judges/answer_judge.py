"""A chat model that grades answers by five criteria, 0 to 5 (MMDocRAG, arXiv 2505.16470, section 4.1, appendix A).

The criteria are the paper's; what the numbers mean is ours, and so is the prompt. Judgements by it are not to be set
beside published ones as if they had been made alike.
"""

from pathlib import Path

from quoteweave.core.answers import Context
from quoteweave.core.chat.prompts import is_shipped, load_prompt
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.protocols import ChatModel
from quoteweave.evaluation.judges.batch import JudgeRequest
from quoteweave.evaluation.judges.chat import (
    ImageReader,
    ask_for_scores,
    image_parts,
    indent,
    name_quotes,
    quotes_as_text,
    user_message,
)
from quoteweave.evaluation.judges.judgements import ASPECTS, HIGHEST, AnswerVerdict
from quoteweave.evaluation.text.responses import answer_of

PROMPT = "judge"
SCALE = tuple(float(score) for score in range(HIGHEST + 1))
NO_ANSWER = "(there is no answer)"
NO_GOLD = "(the dataset gives none)"
QUOTES = ("text_quotes", "image_quotes")


REPLY_TOKENS = 150
"""Three sentences and five scores."""


class AnswerJudge:
    """Grades answers with a chat model.

    The model reads the question, the gold answer (the short one where there is no other), the quotes that the answer
    was written from, in words, and the answer without its thinking. With `images`, it sees the crops of image quotes as
    well. `prompts_folder` may hold its own `judge.txt` (fields: `$question`, `$gold_answer`, `$text_quotes`,
    `$image_quotes`, `$answer`, and `$short_answer`, which may be missing). A set that is shipped may leave the quotes
    out too, as `quoteweave:mmdocrag` does, and then neither their words nor their crops are sent. Raises UsageError
    when the prompt cannot be read.
    """

    reply_tokens = REPLY_TOKENS

    def __init__(
        self, model: ChatModel, *, prompts_folder: Path | None = None, images: ImageReader | None = None
    ) -> None:
        self.model = model
        self.prompt = load_prompt(PROMPT, prompts_folder)
        shipped = prompts_folder is not None and is_shipped(prompts_folder)
        self._optional = ("short_answer", *(QUOTES if shipped else ()))
        self._images = images if "$image_quotes" in self.prompt.text else None

    def request(self, prediction: Prediction, example: Example) -> JudgeRequest:
        """The messages about one answer. Raises UsageError for a prompt of other fields."""
        context = prediction.context or example.context or Context()
        images = name_quotes(context.images, "image")
        gold = example.reference.answer or example.reference.short_answer
        answer = answer_of(prediction.response or "", "own")
        prompt = self.prompt.render(
            {
                "question": indent(example.query.text),
                "gold_answer": indent(gold or NO_GOLD),
                "short_answer": indent(example.reference.short_answer or NO_GOLD),
                "text_quotes": quotes_as_text(name_quotes(context.texts, "text")),
                "image_quotes": quotes_as_text(images),
                "answer": indent(answer if answer.strip() else NO_ANSWER),
            },
            optional=self._optional,
        )
        return JudgeRequest(example.id, [user_message(prompt, image_parts(images, self._images))])

    async def judge(self, request: JudgeRequest) -> AnswerVerdict:
        """Five scores or the reason why there are none. Raises UsageError where there is no endpoint."""
        asked = await ask_for_scores(self.model, request.messages, dict.fromkeys(ASPECTS, SCALE))
        return AnswerVerdict(
            example=request.example,
            scores=None if asked.value is None else {name: int(score) for name, score in asked.value.items()},
            error=asked.error,
            raw=asked.raw,
            model=self.model.name,
            served_as=asked.served_as,
            prompt=self.prompt.sha256,
            request=request.sha256,
            usage=asked.usage,
            attempts=asked.attempts,
        )
