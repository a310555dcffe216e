"""Captures the logs of tests as pytest does, but for those of torch's loggers that pass nothing on.

Six times a test, pytest looks through all loggers, some two thousand where torch is loaded, for those that pass nothing
on, and adds its handler to each: sixty are torch's, and no test reads what they say. In a process that has loaded torch
that took two thirds of all that pytest does for a test. Here those loggers are looked up when there are new ones.
"""

import logging

from _pytest.logging import catching_logs


class _LoggersApart:
    """The loggers that pass nothing on to the root, without torch's."""

    def __init__(self) -> None:
        self._number, self._loggers = -1, list[logging.Logger]()

    def find(self) -> list[logging.Logger]:
        all_loggers = logging.root.manager.loggerDict
        if len(all_loggers) != self._number:
            self._number = len(all_loggers)
            loggers = [logger for logger in all_loggers.values() if isinstance(logger, logging.Logger)]
            apart = (logger for logger in loggers if not logger.propagate)
            self._loggers = [logger for logger in apart if logger.name.partition(".")[0] != "torch"]
        return self._loggers


def capture_without_torch() -> None:
    """Have pytest add its handlers to fewer loggers, for each test of this process."""
    apart = _LoggersApart()

    def enter(capture: catching_logs[logging.Handler]) -> logging.Handler:
        root = logging.getLogger()
        if capture.level is not None:
            capture.handler.setLevel(capture.level)
            capture.orig_level = root.level
            root.setLevel(min(root.level, capture.level))
        for logger in (root, *apart.find()):
            logger.addHandler(capture.handler)
            capture.attached_loggers.append(logger)
        return capture.handler

    catching_logs.__enter__ = enter  # type: ignore[method-assign, assignment]
