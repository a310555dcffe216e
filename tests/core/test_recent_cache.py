from quoteweave.core.concurrency.recent_cache import RecentCache, cached_for_recent_texts


def test_a_full_cache_forgets_what_was_not_used_for_the_longest_time() -> None:
    cache: RecentCache[str, int] = RecentCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_a_text_is_read_once_unless_it_is_long_or_others_were_asked_for_since() -> None:
    read = list[str]()

    @cached_for_recent_texts(2, longest=3)
    def length(text: str) -> int:
        """How long a text is."""
        read.append(text)
        return len(text)

    assert [length(text) for text in ("a", "a", "long", "long", "bb", "ccc", "a")] == [1, 1, 4, 4, 2, 3, 1]
    assert read == ["a", "long", "long", "bb", "ccc", "a"]
    assert length.__doc__ == "How long a text is."
