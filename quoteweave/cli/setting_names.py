"""How the command at hand takes a setting that a remedy names."""

from collections.abc import Sequence
from typing import Any


def setting_name(parameters: Sequence[Any], setting: str) -> str | None:
    """Return the option of a command with these parameters, else the key in the file of its --config; else None.

    Of a setting that is on unless it is turned off, the option that does that.
    """
    options = {one.name: one.secondary_opts or one.opts for one in parameters if one.param_type_name == "option"}
    if setting in options:
        return str(max(options[setting], key=len))
    if "config" in options:
        # Imported here, as it takes longer than a command that needs no settings.
        from quoteweave.pipeline.runs.config import NOT_IN_FILES
        from quoteweave.pipeline.settings import AnswerSettings

        if setting in AnswerSettings.model_fields and setting not in NOT_IN_FILES:
            return f"{setting} in the file of --config"
    return None
