"""Tell by rule whether a sentence begins like an instruction: "Press the button", "To open it, press the button"."""

import re

from quoteweave.core.text.mentions import alternation
from quoteweave.core.text.question_analysis import imperative_verbs

# "To delete a user was once possible" names what is done and tells of it, where "To delete a user, press F5" instructs;
# within the aim a verb stands only behind a word such as "how": "To see how the battery is charged, look".
_TELLS_OF_AIM = (
    r"To\s(?:(?!\b(?:how|what|that|which|who|whose|whom|if|whether|where|when|why|while|until|because|as)\b)[^,:;.])*?"
    r"\b(?:is|are|was|were|has|had|became|becomes|takes?|took|requires?|required|remains?)\b"
)
# What was done once, or is done no longer: "To delete a user, one had to press F5".
_PAST = (
    r"(?:(?:you|one|we|they|people|users)\s+used\s+to\b|had\s+to\b|(?:was|were)\s+once\b|once\s+(?:was|were|had)\b"
    r"|no\s+longer\b|formerly\b|previously\b)"
)
INSTRUCTION = re.compile(
    rf"\W*(?:\d+\W+)?(?!let(?:['’]s|\s+us)\b)(?!{_TELLS_OF_AIM})(?!To\s[^.]*?\b{_PAST})(?:To\s|(?:then|first|now|next)?,?\s*{alternation(sorted(imperative_verbs()))}\b)",
    re.IGNORECASE,
)
