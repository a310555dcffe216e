"""RapidOCR, configured to read short lines as fast as their length allows."""

import copy
from functools import partial
from itertools import count
from typing import Any

from onnxruntime import RunOptions
from rapidocr import RapidOCR
from rapidocr.ch_ppocr_rec import TextRecInput
from rapidocr.utils.typings import LangRec

HEIGHT = 48
# In pixels, for a line that is HEIGHT high: shorter lines are padded to that width, which takes as long as words would.
# WIDTH is PaddleOCR's own, three times as wide as the label of an axis.
SHORT, WIDTH = 80, 320
# A line that is wider than this, in pixels, takes much memory.
LONG = 2000
# After how many lines the memory that reading them took is released.
RELEASED = 50
# A line read with less certainty, and little padding, is read again with PaddleOCR's width.
SURE = 0.95


class Engine(RapidOCR):
    """RapidOCR on one thread. Raises ValueError for unknown languages, and other errors if a model is not available."""

    def __init__(self, language: str) -> None:
        super().__init__(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                # A page of 11 inches is searched for lines at 100 dpi, and lines are read one by one: on one core, both
                # save a fifth of the time and a third of the memory, and change one character in a hundred.
                "Det.limit_side_len": 1120,
                "Det.limit_type": "max",
                "Rec.rec_batch_num": 1,
                "Rec.rec_img_shape": [3, HEIGHT, SHORT],
                "Rec.lang_type": LangRec(language),
                "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,  # otherwise each layer allocates anew
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )
        # Otherwise the memory for the layers of the largest page stays with the process: 250 MB, and more with each new
        # size; likewise for lines as long as a wide page. Releasing it after each of the short ones takes 6 % longer.
        release = RunOptions()
        release.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        detector: Any = self._load_det_model()  # type: ignore[no-untyped-call]  # as it has no annotations
        recognizer: Any = self._load_rec_model()  # type: ignore[no-untyped-call]
        detector, recognizer = detector.session.session, recognizer.session.session
        detector.run = partial(detector.run, run_options=release)
        run, runs = recognizer.run, count(1)

        def run_line(names: Any, inputs: dict[str, Any]) -> Any:
            is_long = any(pixels.shape[-1] > LONG for pixels in inputs.values())
            return run(names, inputs, release if is_long or next(runs) % RELEASED == 0 else None)

        recognizer.run = run_line

    def recognize_txt(self, img: list[Any]) -> Any:
        """Read lines, which are cut from a picture."""
        result: Any = super().recognize_txt(img)
        unsure = [
            number
            for number, (line, score) in enumerate(zip(img, result.scores, strict=True))
            if score < SURE and line.shape[1] * HEIGHT < WIDTH * line.shape[0]
        ]
        if not unsure:
            return result
        wide: Any = copy.copy(self.text_rec)  # it shares the model
        wide.rec_image_shape = [3, HEIGHT, WIDTH]
        reread = wide(TextRecInput(img=[img[number] for number in unsure], return_word_box=self.return_word_box))
        for name in ("txts", "scores", "word_results"):
            readings = list(getattr(result, name))
            for number, reading in zip(unsure, getattr(reread, name), strict=True):
                readings[number] = reading
            setattr(result, name, tuple(readings))
        return result
