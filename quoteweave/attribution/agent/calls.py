"""What the agent does for a text, as one call: an excerpt for each citation mark, and a search for each excerpt."""

import re
from collections.abc import Sequence
from pathlib import Path

from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.trajectory import AgentSettings, Trajectory
from quoteweave.attribution.excerpts import MAX_EXCERPT_CHARACTERS, Excerpt, read_excerpts
from quoteweave.attribution.literature.sources.papers import PaperSource
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.core.concurrency.pools import for_each
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.protocols import ChatModel
from quoteweave.generation.sentences import split_sentences

MASK = "[CITATION]"
"""What stands in an excerpt for the citation that is looked for."""
AT_ONCE = 64
"""Excerpts that are looked for at the same time."""
_OTHER_MASK = "[other citation]"
_MASKS = re.compile(r"\[(?:CITATION|REF)\]")
_STOP = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*$")


def find_papers(
    text: str,
    source: PaperSource | None,
    model: ChatModel,
    *,
    settings: AgentSettings | None = None,
    rule: HidingRule | None = None,
    saved: Path | None = None,
) -> tuple[Trajectory, ...]:
    """Have a chat model find the paper that each citation mark of a text cites, or each sentence of one without marks.

    The model searches and reads in `source`, as `settings` allow; `rule` hides the paper that the text is from, and
    later ones. Of each trajectory, `outcome` is `selected` or what went wrong, `selected` the paper, and `steps` what
    led there. With the folder `saved` every step is kept in it as it happens (`1.jsonl` is that of the first mark): a
    second call resumes what was broken off, and returns what has ended without asking anybody. Raises what
    `read_excerpts`, `CiteAgent` and `CiteAgent.find` raise.

    >>> (found,) = find_papers("Grain shipments doubled in May [4].", source, model)
    >>> found.outcome, found.selected.title
    ('selected', 'Freight in May')
    """
    return run_sync(_find_all(CiteAgent(model, source, settings), masked_excerpts(text), rule, saved))


async def _find_all(
    agent: CiteAgent, excerpts: Sequence[str], rule: HidingRule | None, saved: Path | None
) -> tuple[Trajectory, ...]:
    found: dict[int, Trajectory] = {}

    async def find(number: int) -> None:
        path = None if saved is None else saved / f"{number}.jsonl"
        found[number] = await agent.find(excerpts[number - 1], id=str(number), rule=rule, saved=path)

    numbers = range(1, len(excerpts) + 1)
    await for_each(numbers, find, concurrency=min(AT_ONCE, len(excerpts)))
    return tuple(found[number] for number in numbers)


def masked_excerpts(text: str) -> list[str]:
    """Return an excerpt for each citation mark of a text, in which [CITATION] stands for it.

    Without marks there is one for each sentence, as if it ended with a citation. Of a long text the 600 characters on
    each side of the mark are taken. Raises what `read_excerpts` raises.

    >>> masked_excerpts("Blur hurts networks [4], but people see well [7].")[1]
    'Blur hurts networks [4], but people see well [CITATION].'
    >>> masked_excerpts("Blur hurts networks.")
    ['Blur hurts networks [CITATION].']
    """
    return [_masked(text, excerpt) for excerpt in read_excerpts(text)]


def _masked(text: str, excerpt: Excerpt) -> str:
    if excerpt.mark is None:
        # The claim itself need not stand in the text: it is without what introduces a source.
        sentence = split_sentences(text[excerpt.start :])[0].text
        stop = _STOP.search(sentence)
        end = excerpt.start + (len(sentence) if stop is None else stop.start())
        return " ".join(f"{text[:end].rstrip()} {MASK}{text[end:]}".split())
    around = MAX_EXCERPT_CHARACTERS // 2
    end = excerpt.start + len(excerpt.mark)
    before, after = text[: excerpt.start], text[end:]
    if excerpt.cut:
        before = "…" + before[-around:].partition(" ")[2] if len(before) > around else before
        after = after[:around].rpartition(" ")[0] + "…" if len(after) > around else after
    before, after = (_MASKS.sub(_OTHER_MASK, part) for part in (before, after))
    return f"{before}{MASK}{after}".strip()
