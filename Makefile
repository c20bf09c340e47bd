# All chores of the project. `make` alone prints them.
#
# Another Python beside the usual one: make test PYTHON=python3.12 VENV=.venv312

PYTHON ?= python3
VENV ?= .venv

BIN := $(VENV)/bin
# Quiet twice: errors are shown, progress and warnings about the package index are not.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --quiet --constraint constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start many processes: compiled modules that are kept save a second each.
unexport PYTHONDONTWRITEBYTECODE
# Two workers on two cores: threads of their own for each would only wait for each other.
test test-slow: export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow golden lint types bench docs clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.runtime ## show what discreet does; a page and its files go to demo-output
	$(BIN)/discreet demo --out demo-output --replace

test: $(VENV)/.dev ## run the tests and the examples in docstrings
	$(BIN)/python -m pytest -n 2 --dist loadfile --doctest-modules tests src

test-slow: $(VENV)/.dev ## run the tests that take long
	$(BIN)/python -m pytest -m slow -n 2

golden: $(VENV)/.dev ## compare the output of every command with the stored one
	$(BIN)/python -m tests.golden.golden compare

lint: $(VENV)/.dev ## check style, layout and wording
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python docs/wording.py

types: $(VENV)/.dev ## check types
	$(BIN)/mypy

bench: $(VENV)/.bench ## measure speed, about half an hour
	$(BIN)/python -m benchmarks.run

docs: $(VENV)/.dev ## write the reference, the picture of rooms and what the examples print
	$(BIN)/python docs/rooms.py
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/refresh.py

clean: ## remove the environment, the caches and the demo's output
	@if [ -e $(VENV)/pyvenv.cfg ]; then rm -rf $(VENV); fi
	rm -rf demo-output build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -path './.*' -prune -o -name __pycache__ -prune -exec rm -rf {} +

# --- Set-up: an environment of its own; the system's Python is never changed. ---

$(VENV)/.runtime: pyproject.toml constraints.txt $(VENV)/.made
	@echo "Installing discreet in $(VENV)"
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(VENV)/.made
	@echo "Installing discreet and its tools in $(VENV)"
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.runtime

$(VENV)/.bench: pyproject.toml constraints.txt $(VENV)/.made
	@echo "Installing discreet, its tools and the package it is measured against in $(VENV)"
	@$(PIP_INSTALL) --editable '.[dev,bench]'
	@touch $@ $(VENV)/.dev $(VENV)/.runtime

# An environment whose interpreter is gone (a Python that was upgraded away) is made again.
ifeq ($(realpath $(BIN)/python),)
.PHONY: $(VENV)/.made
endif

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no command $(PYTHON). Install Python 3.11 or later, or name yours: make PYTHON=..." >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "discreet needs Python 3.11 or later; $(PYTHON) is %d.%d. Name another: make PYTHON=..." % sys.version_info[:2])'
	@if $(BIN)/python -m pip --version >/dev/null 2>&1; then :; \
	elif $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then $(PYTHON) -m venv --clear $(VENV); \
	elif $(PYTHON) -m virtualenv --version >/dev/null 2>&1; then $(PYTHON) -m virtualenv --quiet --clear $(VENV); \
	elif command -v virtualenv >/dev/null; then virtualenv --quiet --clear --python $(PYTHON) $(VENV); \
	else \
	  echo "$(PYTHON) cannot make an environment: ensurepip and virtualenv are missing." >&2; \
	  echo "On Debian and Ubuntu install the package python3-venv, then run make again." >&2; \
	  exit 1; \
	fi
	@touch $@
