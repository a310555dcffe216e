"""Chat models that grade answers, 0 to 5: by MMDocRAG's five criteria, or with the boxes that they cite, as in CiteVQA.

`AnswerJudge` grades by the criteria of MMDocRAG (arXiv 2505.16470, section 4.1, appendix A), `AttributionJudge` an
answer and what it cites (CiteVQA, arXiv 2605.12882). Criteria and scales are the papers'; the detailed meaning of the
numbers and the prompts are our own. So these judgements must not be compared with published ones as if they had been
made in the same way.
"""

import hashlib
from pathlib import Path

from quoteweave.core.answers import Context
from quoteweave.core.chat.completions import ChatMessage
from quoteweave.core.chat.prompts import Prompt, is_shipped, load_prompt
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.protocols import ChatModel
from quoteweave.core.records import mark_name
from quoteweave.evaluation.judges.batch import JudgeRequest
from quoteweave.evaluation.judges.chat import (
    NO_ANSWER,
    ImageReader,
    NamedQuote,
    ask_for_scores,
    image_parts,
    indent,
    name_quotes,
    quotes_as_text,
    sum_usage,
    user_message,
)
from quoteweave.evaluation.judges.judgements import ASPECTS, ATTRIBUTION, MAX_SCORE, AnswerVerdict
from quoteweave.evaluation.text.responses import answer_of, citations, cited_boxes, without_boxes

PROMPT = "judge"
SCALE = tuple(float(score) for score in range(MAX_SCORE + 1))
NO_GOLD = "(the dataset gives none)"
QUOTE_FIELDS = ("text_quotes", "image_quotes")


REPLY_TOKENS = 150
"""Tokens for three sentences and five scores."""


class AnswerJudge:
    """Grades answers with a chat model.

    The model reads the question, the gold answer (the short one if there is no other), the words of the quotes from
    which the answer was written, and the answer without its thinking. With `images`, it also sees the crops of image
    quotes. `prompts_folder` may contain its own `judge.txt` (fields: `$question`, `$gold_answer`, `$text_quotes`,
    `$image_quotes`, `$answer`, and `$short_answer`, which may be missing). A shipped set may also leave out the quotes,
    as `quoteweave:mmdocrag` does, and then neither their words nor their crops are sent. Raises UsageError if the
    prompt cannot be read.
    """

    reply_tokens = REPLY_TOKENS

    def __init__(
        self, model: ChatModel, *, prompts_folder: Path | None = None, images: ImageReader | None = None
    ) -> None:
        self.model = model
        self.prompt = load_prompt(PROMPT, prompts_folder)
        shipped = prompts_folder is not None and is_shipped(prompts_folder)
        self._optional = ("short_answer", *(QUOTE_FIELDS if shipped else ()))
        self._images = images if "$image_quotes" in self.prompt.text else None

    def request(self, prediction: Prediction, example: Example) -> JudgeRequest:
        """The messages about one answer. Raises UsageError for a prompt with other fields."""
        fields, images = answer_fields(prediction, example)
        short_answer = indent(example.reference.short_answer or NO_GOLD)
        prompt = self.prompt.render({**fields, "short_answer": short_answer}, optional=self._optional)
        return JudgeRequest(example.id, [user_message(prompt, image_parts(images, self._images))])

    async def judge(self, request: JudgeRequest) -> AnswerVerdict:
        """Five scores, or the reason why there are none. Raises UsageError if there is no endpoint."""
        reply = await ask_for_scores(self.model, request.messages, dict.fromkeys(ASPECTS, SCALE))
        return AnswerVerdict(
            example=request.example,
            scores=None if reply.value is None else {name: int(score) for name, score in reply.value.items()},
            error=reply.error,
            raw=reply.raw,
            model=self.model.name,
            served_as=reply.served_as,
            prompt=self.prompt.sha256,
            request=request.sha256,
            usage=reply.usage,
            attempts=reply.attempts,
        )


def answer_fields(prediction: Prediction, example: Example) -> tuple[dict[str, str], list[NamedQuote]]:
    """The fields of a prompt about an answer over quotes, and the image quotes by their marks."""
    context, reference = prediction.context or example.context or Context(), example.reference
    images = name_quotes(context.images, "image")
    answer = answer_of(prediction.response or "", "own")
    fields = {
        "question": indent(example.query.text),
        "gold_answer": indent(reference.answer or reference.short_answer or NO_GOLD),
        "text_quotes": quotes_as_text(name_quotes(context.texts, "text")),
        "image_quotes": quotes_as_text(images),
        "answer": indent(answer if answer.strip() else NO_ANSWER),
    }
    return fields, images


ANSWER_PROMPT, EVIDENCE_PROMPT = "judge_boxed_answer", "judge_boxed_evidence"


class AttributionJudge:
    """Grades answers with a chat model: an answer against its gold answer, and separately the quotes that it cites.

    An answer that cites nothing has a relevance of 0, without asking. If an answer has boxes but the quotes there are
    not known, its relevance cannot be judged and is left out. `prompts_folder` may contain its own
    `judge_boxed_answer.txt` (fields: `$question`, `$gold_answer`, `$answer`) and `judge_boxed_evidence.txt` (also
    `$evidence`). Raises UsageError if a prompt cannot be read.
    """

    reply_tokens = REPLY_TOKENS

    def __init__(
        self, model: ChatModel, *, prompts_folder: Path | None = None, images: ImageReader | None = None
    ) -> None:
        self.model = model
        self._answer, self._evidence = (load_prompt(name, prompts_folder) for name in (ANSWER_PROMPT, EVIDENCE_PROMPT))
        self._images = images

    @property
    def prompt(self) -> Prompt:
        """The prompt for answers, with the SHA-256 of both prompts."""
        combined_hash = hashlib.sha256(f"{self._answer.sha256} {self._evidence.sha256}".encode()).hexdigest()
        return self._answer.model_copy(update={"sha256": combined_hash})

    def request(self, prediction: Prediction, example: Example) -> JudgeRequest:
        """The message about the answer, then that about its evidence if there is any to judge.

        Raises UsageError for a prompt with other fields.
        """
        answer = answer_of(prediction.response or "", "own")
        values = {
            "question": indent(example.query.text),
            "gold_answer": indent(example.reference.answer or NO_GOLD),
        }
        shown = indent(without_boxes(answer) if answer.strip() else NO_ANSWER)
        messages: list[ChatMessage] = [user_message(self._answer.render({**values, "answer": shown}))]
        if cited := _cited_quotes(prediction):
            evidence = {**values, "answer": indent(answer), "evidence": quotes_as_text(cited)}
            messages.append(user_message(self._evidence.render(evidence), image_parts(cited, self._images)))
        boxes = not cited and bool(cited_boxes(answer))
        return JudgeRequest(example.id, messages, cites_unknown=boxes)

    async def judge(self, request: JudgeRequest) -> AnswerVerdict:
        """Both scores, or the reason why one is missing. Raises UsageError if there is no endpoint."""
        replies = [
            await ask_for_scores(self.model, [message], {name: SCALE})
            for name, message in zip(ATTRIBUTION, request.messages, strict=False)
        ]
        scores = {name: int(score) for reply in replies for name, score in (reply.value or {}).items()}
        if len(request.messages) == 1 and not request.cites_unknown and scores:
            scores["relevance"] = 0
        error = next(
            (f"{name}: {reply.error}" for name, reply in zip(ATTRIBUTION, replies, strict=False) if reply.error), None
        )
        return AnswerVerdict(
            example=request.example,
            scores=None if error else scores,
            error=error,
            raw=None if replies[-1].raw is None else "\n\n".join(reply.raw or "" for reply in replies),
            model=self.model.name,
            served_as=replies[-1].served_as,
            prompt=self.prompt.sha256,
            request=request.sha256,
            usage=sum_usage(reply.usage for reply in replies),
            attempts=sum(reply.attempts for reply in replies),
        )


def _cited_quotes(prediction: Prediction) -> list[NamedQuote]:
    """The quotes that an answer cites, each once under its mark."""
    context = prediction.context or Context()
    marks = citations(prediction.response or "", "own").marks()
    return [(mark_name(*mark), quote) for mark in marks if (quote := context.quote(*mark)) is not None]
