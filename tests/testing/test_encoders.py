import numpy as np
import pytest
from PIL import Image

from quoteweave.testing import FakeEncoder


@pytest.mark.parametrize("many", [False, True])
def test_vectors_follow_from_words_alone_whatever_stands_beside(many: bool) -> None:
    encoder = FakeEncoder(multi_vector=many, dimension=16)
    texts = ["Grain by ship", "coal", "", "grain BY ship!"]
    together = encoder.encode_views(texts)
    for text, matrix in zip(texts, together, strict=True):
        (alone,) = encoder.encode_queries([text])
        np.testing.assert_array_equal(matrix, alone)
        assert matrix.dtype == np.float32
        assert matrix.shape == ((max(1, len(text.split())) if many else 1), 16)
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(together[0], together[3])


def test_texts_that_share_words_are_nearer_than_others() -> None:
    grain, barge, coal = (m[0] for m in FakeEncoder().encode_views(["grain by ship", "grain by barge", "coal"]))
    assert grain @ barge > 0.4 > grain @ coal


def test_the_words_of_a_picture_are_the_colour_of_its_middle() -> None:
    encoder = FakeEncoder(reads="image")
    (picture,) = encoder.encode_views([Image.new("L", (3, 3), 255)])
    np.testing.assert_array_equal(picture, encoder.encode_queries(["#ffffff"])[0])
    assert (encoder.views, encoder.queries) == ([["#ffffff"]], [["#ffffff"]])


def test_vectors_of_views_can_be_spoiled() -> None:
    encoder = FakeEncoder(spoil=lambda matrices: matrices[1:])
    assert len(encoder.encode_views(["one", "two"])) == 1
    assert len(encoder.encode_queries(["one", "two"])) == 2
