from pathlib import Path

import pytest

from quoteweave.core.chat.usage import Price
from quoteweave.core.errors import UsageError
from quoteweave.endpoints.prices import chat_price, embedding_price, price_table, read_prices


@pytest.fixture(autouse=True)
def _no_own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUOTEWEAVE_PRICES", raising=False)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "prices.toml"
    monkeypatch.setenv("QUOTEWEAVE_PRICES", str(path))
    return path


def test_prices_are_for_a_million_tokens() -> None:
    price = read_prices('[chat]\n"m-1.5" = { input = 2.5, output = 10 }\n[embeddings]\ne = 0.1', "t").chat["m-1.5"]
    assert price.of(1_000_000, 500_000) == 7.5


def test_the_package_knows_some_and_says_nothing_of_others() -> None:
    assert chat_price("gpt-4.1-mini") == Price(input=0.4, output=1.6)
    assert embedding_price("text-embedding-3-small") == 0.02
    assert chat_price("local=/models/m") == Price(input=0, output=0)
    assert (chat_price(None), chat_price("nobody's model"), embedding_price("nobody's")) == (None, None, None)


def test_a_version_with_its_date_costs_what_the_model_does_unless_it_is_named() -> None:
    assert chat_price("gpt-4o-mini-2024-07-18") == chat_price("gpt-4o-mini")
    assert chat_price("gpt-4o-2024-05-13") == Price(input=5, output=15) != chat_price("gpt-4o")
    assert chat_price("gpt-4o-audio") is None


def test_the_users_own_table_goes_before(own: Path) -> None:
    own.write_text("[chat]\ngpt-4o = { input = 1, output = 2 }\nours = { input = 0, output = 0 }\n", "utf-8")
    assert chat_price("gpt-4o") == Price(input=1, output=2)
    assert chat_price("ours") == Price(input=0, output=0)
    assert chat_price("gpt-4o-mini") == Price(input=0.15, output=0.6)
    assert embedding_price("text-embedding-3-small") == 0.02


def test_an_own_table_may_be_of_embeddings_alone(own: Path) -> None:
    own.write_text("[embeddings]\ntext-embedding-3-small = 0.5\n", "utf-8")
    assert embedding_price("text-embedding-3-small") == 0.5
    assert chat_price("gpt-4o") == Price(input=2.5, output=10)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[chat\n", "is no TOML"),
        ("[chat]\nm = 3\n", "chat.m"),
        ("[chat]\nm = { input = 1 }\n", "chat.m.output"),
        ("[chat]\nm = { input = -1, output = 1 }\n", "chat.m.input"),
        ("[chat]\nm = { input = nan, output = 1 }\n", "chat.m.input"),
        ("[chat]\ngpt-9.1 = { input = 1, output = 1 }\n", '"model" = { input'),
        ("[embeddings]\nm = 'dear'\n", "embeddings.m"),
        ("[chats]\nm = { input = 1, output = 1 }\n", "chats"),
    ],
)
def test_what_is_no_table_is_named_with_file_and_field(own: Path, table: str, said: str) -> None:
    own.write_text(table, "utf-8")
    with pytest.raises(UsageError) as raised:
        price_table()
    assert str(own) in str(raised.value)
    assert said in str(raised.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named_with_its_variable(own: Path, content: bytes | None) -> None:
    if content is not None:
        own.write_bytes(content)
    with pytest.raises(UsageError, match="QUOTEWEAVE_PRICES") as raised:
        chat_price("gpt-4o")
    assert str(own) in str(raised.value)
