# Everything runs in a virtual environment of its own, made on first use.

PYTHON ?= python3
EXTRAS ?= dev
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test test-pages test-slow models lint types bench docs clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 12

# With an older Python, pip would look through old versions of everything for a quarter of an hour before it says so.
is_new_enough = @$(1) -c 'import sys; sys.version_info < (3, 11) and sys.exit("ipu-mlir needs Python 3.11 or newer, \
	but $(1) is %d.%d: $(2)" % tuple(sys.version_info[:2]))'

# The package reaches dialects, passes, runtime and tools by links; where git was told to write links as files, they are made.
$(READY): pyproject.toml
	$(call is_new_enough,$(PYTHON),name another with make PYTHON=python3.11)
	$(PYTHON) -m venv $(VENV)
	$(call is_new_enough,$(BIN)/python,remove that environment with make clean)
	@for room in dialects passes runtime tools; do [ -d ipu_mlir/$$room ] || ln -sfn ../$$room ipu_mlir/$$room; done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	touch $(READY)

demo: $(READY)  ## train a network on handwritten digits on four simulated IPUs
	$(BIN)/python examples/digits/train.py

# A test that does not end is named with the place where it hangs, and fails.
test: $(READY)  ## unit tests, doctests, FileCheck, corpus programs
	$(BIN)/python -m pytest -n auto -q -m 'not slow and not pages' -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true

test-pages: $(READY)  ## pages, examples and benchmarks, run as a reader runs them
	$(BIN)/python -m pytest -n auto -q -m 'pages and not slow' -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true

test-slow: $(READY)  ## the long tests: more random programs, larger targets
	$(BIN)/python -m pytest -n auto -q -m slow

# Those whose packages are installed: see the extras jax, torch, tensorflow and models.
models: $(READY)  ## models of transformers, timm, diffusers, Keras, flax and equinox, with a table of their costs
	$(BIN)/python test/e2e/models/run.py
	$(BIN)/python scripts/write_models_page.py

lint: $(READY)  ## format and lint checks
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)  ## static types
	$(BIN)/pyright

bench: $(READY)  ## speed beside hand-written NumPy, as ratios
	$(BIN)/python -m benchmarks.run

docs: $(READY)  ## the documentation site, in build/site; warnings are errors
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

clean:  ## remove what the other targets made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .ruff_cache
