"""What is done about citations that the gate found `unsupported`, or that a checker does not find supported."""

from typing import Literal

from quoteweave.core.answers import Answer, ImageBlock, TextBlock
from quoteweave.generation.citations import blocks_of
from quoteweave.generation.gate.answers import SHOWN, bounded, cited_claims
from quoteweave.generation.gate.dropping import Dropper
from quoteweave.generation.wording import clip

Policy = Literal["report", "drop", "refuse"]
"""Nothing is done, the sentences are taken out, or the whole answer is withheld."""

REFUSAL = "The answer that was written is not shown, because what it cites does not support it."


def apply(answer: Answer, policy: Policy) -> Answer:
    """What is shown of a checked answer; the answer itself where no citation failed, or under `report`.

    One fails that the gate found `unsupported`, or that a checker does not find supported. `drop` takes out each
    sentence with such a citation, `refuse` the whole; warnings say what and why, and `Answer.raw` keeps what was
    written. Where `drop` would leave nothing cited, the answer is refused too.
    """
    dropper, at = Dropper(), 0
    shown = []
    for claim, citations in cited_claims(answer):
        shown += dropper.take(answer.text[at : claim.start], answer.text[claim.start : claim.end], claim, citations)
        at = claim.end
    if policy == "report" or not dropper.dropped:
        return answer
    refused = policy == "refuse" or not dropper.cited
    said = [
        f"{'Withheld' if refused else 'Taken out'}: “{clip(claim.said, SHOWN)}” {reason}".rstrip()
        for claim, reason in dropper.dropped
    ]
    raw = answer.raw if answer.raw is not None else answer.text
    update = {"warnings": (*answer.warnings, *bounded(said)), "raw": raw}
    if refused:
        blocks = (TextBlock(text=REFUSAL),)
        return answer.model_copy(
            update={"status": "abstained", "text": REFUSAL, "blocks": blocks, "citations": (), **update}
        )
    text, cited = "".join(one.text for one in shown), tuple(one for part in shown for one in part.citations)
    images = {block.citation.number: block.image for block in answer.blocks if isinstance(block, ImageBlock)}
    return answer.model_copy(
        update={"text": text, "blocks": blocks_of(text, cited, images), "citations": cited, **update}
    )
