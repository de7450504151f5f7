# Everything here works on a machine with Python 3.11 or newer, pip and make; `make` alone lists the targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
# A CUDA image brings its own Python with CuPy; nothing is installed for its checks.
GPU_PYTHON ?= python3
CONSTRAINTS := requirements/constraints.txt
BIN := $(VENV)/bin
RUN := $(BIN)/python -m
PIP := $(RUN) pip --disable-pip-version-check --quiet
# An installed package comes with its byte code; a checkout does not, and where Python is told to write none every
# process would spend seconds on reading hundreds of modules anew.
COMPILED := $(RUN) compileall -q polyviz
# Two test workers already keep native code busy on most machines; more than four only wait for memory.
# Neighbours in the list go to the same worker, which finds at hand what they share (tests/shared.py).
PYTEST := $(RUN) pytest -n auto --maxprocesses=4 --dist worksteal
QUICK := -m "not slow and not gpu"
# What the cold run of `make test` covers; the slow tests take most of its time.
TESTS ?= not gpu and not more
# Who compiles: only there a cache that is already filled can make a difference.
COMPILING := tests/api tests/runtime

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help demo install labextension wheel test test-all fast lint bench test-gpu constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/.installed ## install from this checkout and run the main job on real input
	@$(BIN)/polyviz demo

install: $(VENV)/.installed-test ## install this checkout with everything the checks need

labextension: $(VENV)/.front-end ## build the live views; needs Node.js and npm, without which everything is static

wheel: labextension ## a wheel and a source archive in dist/, with the live views that were built
	@$(PIP) install hatchling --constraint $(CONSTRAINTS)
	@$(RUN) hatchling build --directory dist

test: lint labextension ## the checks that need no GPU: lint, types, import contracts, tests with a cold and a warm cache
	@POLYVIZ_CACHE_DIR=$$(mktemp -d) && export POLYVIZ_CACHE_DIR && trap 'rm -rf "$$POLYVIZ_CACHE_DIR"' EXIT && \
	echo "== all tests, cold cache" && $(PYTEST) -m "$(TESTS)" && \
	echo "== quick tests that compile, warm cache" && $(PYTEST) -q $(QUICK) --optimised some $(COMPILING)

test-all: ## the same with every case of every test, which takes half as long again
	@$(MAKE) test TESTS="not gpu"

fast: $(VENV)/.installed-test ## the quick tests only
	@$(PYTEST) -q $(QUICK)

lint: $(VENV)/.installed-test ## style, strict types and the order of the phases
	@echo "== ruff" && $(RUN) ruff check .
	@echo "== mypy" && $(RUN) mypy
	@echo "== import contracts" && $(BIN)/lint-imports --no-logo

test-gpu: ## the checks that need a CUDA device; any Python with CuPy and islpy will do (GPU_PYTHON=...)
	@$(GPU_PYTHON) -m tests.gpu_needs
	@$(GPU_PYTHON) -m tests.gpu_checks

bench: $(VENV)/.installed ## the benchmark tables against the installed peers
	@$(BIN)/polyviz bench

# One environment, two depths: the stamps say what is in it, and are older than a change of what it is made from.
$(VENV)/.installed: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	@echo "== installing from this checkout into $(VENV)"
	@$(PIP) install --editable . --constraint $(CONSTRAINTS)
	@$(COMPILED)
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@echo "== installing the checks into $(VENV)"
	@$(PIP) install --editable '.[test]' --constraint $(CONSTRAINTS)
	@$(COMPILED)
	@touch $@

# The front end is optional: without npm, or where its packages cannot be fetched, that is said and the rest goes on.
$(VENV)/.front-end: $(shell find labextension/src labextension/style labextension/*.* -type f) | $(BIN)/python
	@if ! command -v npm >/dev/null; then echo "== no live views: Node.js and npm are not installed"; \
	elif ! (cd labextension && echo "== fetching the packages of the front end" && npm ci --ignore-scripts --silent); then \
	    echo "== no live views: the packages of the front end cannot be fetched"; \
	else cd labextension && npm run --silent build && cd .. && \
	    mkdir -p $(VENV)/share/jupyter/labextensions && \
	    rm -rf $(VENV)/share/jupyter/labextensions/polyviz-lab && \
	    ln -s "$(CURDIR)/polyviz/labextension" $(VENV)/share/jupyter/labextensions/polyviz-lab && touch $@; fi

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "No Python found: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: polyviz needs Python 3.11 or newer (make PYTHON=/path/to/python3.11)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make environments: apt-get install python3-venv" >&2; exit 1; }
	@echo "== creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# Resolve with the oldest Python that counts, Debian's 3.11: some newest releases already ask for a later patch level.
constraints: ## write down the newest versions that install together
	@rm -rf $(VENV)-constraints && $(PYTHON) -m venv $(VENV)-constraints
	@$(VENV)-constraints/bin/python -m pip --disable-pip-version-check --quiet install '.[test,cc,nvrtc,tune]'
	@{ echo '# The versions the project is tested with; `make` installs with these. Refresh with: make constraints'; \
	  $(VENV)-constraints/bin/python -m pip list --format=freeze \
	  | grep -v -i -E '^(pip|setuptools|wheel|polyviz-inspector)=='; } > $(CONSTRAINTS)
	@rm -rf $(VENV)-constraints

clean: ## remove the environment and what tools leave behind
	@rm -rf labextension/node_modules labextension/lib polyviz/labextension polyviz/static
	@rm -rf $(VENV) $(VENV)-constraints build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
