from quoteweave.core.concurrency.recent_cache import RecentCache


def test_a_full_cache_forgets_what_was_not_used_for_the_longest_time() -> None:
    cache: RecentCache[str, int] = RecentCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
