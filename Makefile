# Everything runs inside .venv, which each target creates or refreshes by itself.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
# Two test processes share the cores, so each computes on one.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q

.PHONY: setup demo test test-all lint format docs clean
.DEFAULT_GOAL := setup

setup: .venv/.installed  ## the package, its command and its tools in .venv

.venv/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e ".[dev]"
	touch $@

.venv/.docs: .venv/.installed
	$(PIP) -e ".[dev,docs]"
	touch $@

demo: setup  ## the main job on embedded defaults, with pictures
	$(BIN)/supra demo

test: setup lint  ## what CI runs
	$(PYTEST) -m "not slow"

test-all: setup lint  ## everything, the slow tests too
	$(PYTEST)

lint: setup  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/.docs  ## the documentation as a site in site/
	$(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv site demo build dist
