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

# For the inner loop: some 3,500 tests in 80 seconds of processor time (73 user, 6 system; measured on 2026-11-23 beside other
# work), which is under a minute on two idle cores. Leaves out the files of tests/slow_files.py: OCR, torch, FAISS, Milvus,
# kills and restarts, the browser, the examples of the documentation. `make test` alone says that all is well.
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
	$(BIN)/python benchmarks/retrieval_mmdocir.py
	$(BIN)/python benchmarks/answers.py
	$(BIN)/python benchmarks/off_topic.py
	$(BIN)/python benchmarks/natural_questions.py
	$(BIN)/python benchmarks/parsing_mmdocir.py
	$(BIN)/python benchmarks/gold_boxes.py
	$(BIN)/python benchmarks/parsing_speed.py --only digital ocr memory
	$(BIN)/python benchmarks/search_speed.py
	$(BIN)/python benchmarks/hybrid_mmdocir.py
	$(BIN)/python benchmarks/dense_speed.py --only speed
	$(BIN)/python benchmarks/maxsim_speed.py --only made memory
	$(BIN)/python benchmarks/encoding_speed.py --only speed --quotes 500
	$(BIN)/python benchmarks/gate_quality.py
	$(BIN)/python benchmarks/highlights.py
	$(BIN)/python benchmarks/generation_speed.py
	$(BIN)/python benchmarks/scoring_speed.py
	$(BIN)/python benchmarks/serving.py
	$(BIN)/python benchmarks/startup.py

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
	touch $@ $(VENV)/.base
