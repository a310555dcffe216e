"""Settings of a run for the task of its dataset: what a task cannot have is refused in its own words."""

import pytest

from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Task
from quoteweave.pipeline.runs.config import RunSettings


@pytest.mark.parametrize(
    ("settings", "task", "said"),
    [
        ({}, "name_paper", "citeme asks for a title, and only a model names one; set model"),
        ({}, "choose_source", "citeme asks for a letter, and only a model chooses one; set model"),
        ({"model": "m", "order": "published"}, "name_paper", "order 'published' is MCiteBench's, not of citeme"),
        ({"model": "m", "captions": False}, "name_paper", "captions is of MCiteBench's pictures, not of citeme"),
        ({"model": "m", "captions": False}, "answer", "captions is of MCiteBench's pictures, not of citeme"),
        ({"model": "m", "quotes": "retrieved"}, "name_paper", "asks of an excerpt, without quotes; set quotes ="),
        ({"model": "m", "order": "shuffled"}, "name_paper", "order 'shuffled' is of quotes, and citeme asks of an"),
        ({"model": "m", "quotes": "dataset", "order": "gold_at", "place": 1}, "name_paper", "order 'gold_at' is of"),
        ({"model": "m", "quotes": "dataset", "passages": 5}, "name_paper", "passages 5 is of quotes"),
        ({"model": "m", "quotes": "retrieved"}, "cite_sources", "asks for its own sources; set quotes ="),
    ],
)
def test_settings_that_a_task_cannot_have_are_refused(settings: dict[str, object], task: Task, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        RunSettings.model_validate(settings).for_task(task, "citeme")


def test_a_paper_is_named_from_the_dataset_alone() -> None:
    found = RunSettings(model="m").for_task("name_paper", "citeme")
    assert (found.quotes, found.captions, found.order) == ("dataset", None, "kept")
