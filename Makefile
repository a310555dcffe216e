# The commands of the README, and what CI runs. Everything lands in .venv and demo/.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Files stay together, so that what a file makes once is made once; the longest go first (tests/conftest.py).
PYTEST := $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-fast lint bench clean

demo: $(VENV)/.base
	$(BIN)/quoteweave demo --out demo

test: $(VENV)/.dev
	$(PYTEST)

# For the inner loop: a third of the tests, 5,700 in 51 s on two idle cores (2026-11-30; in slow hours half as long
# again). Leaves out the files of tests/slow_files.py: OCR, torch, FAISS, Milvus, kills and restarts, the browser, the
# examples of the documentation. `make test` alone says that all is well.
test-fast: $(VENV)/.dev
	$(PYTEST) -m "not slow"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Needs the research data that benchmarks/README.md names. Meant to end within half an hour on two idle cores once
# documents are in the cache, which is why some scripts measure here but a part of what they do by default.
bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run_all.py

clean:
	rm -rf $(VENV) demo

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("quoteweave needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

# colpali-engine wants torchvision, whose wheel is made for the CUDA build of torch: beside a CPU build it breaks every
# import of transformers. So both lie in a folder of their own, which tests/conftest.py makes usable.
$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) torch --editable '.[dev]'
	$(PIP) --target $(VENV)/visual --upgrade --no-deps torchvision colpali-engine
	$(BIN)/python -m compileall -q quoteweave  # else each process of the tests compiles it beside the others
	touch $@ $(VENV)/.base
