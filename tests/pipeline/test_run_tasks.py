"""Settings of a run for the task of its dataset: what a task cannot have is refused in its own words."""

import pytest

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Task
from quoteweave.pipeline.runs.config import RunSettings


@pytest.mark.parametrize(
    ("settings", "task", "said"),
    [
        ({}, "choose_source", "citeme asks for a letter, and only a model chooses one; set model"),
        ({"model": "m"}, "name_paper", "citeme asks for papers, which `quoteweave.attribution.answer_excerpts` finds"),
        ({"model": "m", "order": "published"}, "answer", "order 'published' is MCiteBench's, not of citeme"),
        ({"model": "m", "captions": False}, "answer", "captions is of MCiteBench's pictures, not of citeme"),
        ({"model": "m", "quotes": "retrieved"}, "cite_sources", "asks for its own sources; set quotes ="),
    ],
)
def test_settings_that_a_task_cannot_have_are_refused(settings: dict[str, object], task: Task, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        RunSettings.model_validate(settings).for_task(task, "citeme")
