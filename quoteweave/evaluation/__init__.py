"""Score retrieval and answers against gold references: metrics, intervals, comparisons, reports.

    from quoteweave.evaluation import ScoringRequest, compare, score

    runs = [score(ScoringRequest(run=run, dataset="mmdocrag-20", references="gold.jsonl")) for run in ("a", "b")]
    for comparison in compare(runs, ["overall.f1"]):
        print(comparison.difference, comparison.p)

Names load their module when they are first used, so that importing the package is cheap.
"""

import lazy_loader

# The public names are in __init__.pyi, which people, type checkers and this line read.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
