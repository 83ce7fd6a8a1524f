# Two commands: `make run` and `make test`. Everything else is for people who work on Opora itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
OPORA_PORT ?= 8642

.PHONY: run test lint types contracts unit bench lock clean

run: $(VENV)/.run ## install, start, load the samples once, ask one question, keep serving
	@OPORA_PORT=$(OPORA_PORT) $(BIN)/opora serve --demo samples/documents

test: $(VENV)/.dev lint types contracts unit ## lint, types, import contracts, the whole suite

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev
	$(BIN)/pytest

bench: $(VENV)/.dev ## measure; writes benchmarks/results.json and the tables of benchmarks/README.md
	$(BIN)/python -m benchmarks

lock: ## make both lock files anew from pyproject.toml (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --group build -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --group build --group dev -c requirements.lock -o requirements-dev.lock

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Opora needs Python 3.11 or newer; set PYTHON=/path/to/python3.11 to choose one."; exit 1; }
	@$(if $(UV),$(UV) venv -q --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV)) || \
		{ echo "No virtual environment could be made. On Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.run: requirements.lock pyproject.toml | $(VENV)/bin/python
	@$(if $(UV),$(UV) pip install -q --compile-bytecode --python $(BIN)/python,$(BIN)/pip install -q --disable-pip-version-check) --require-hashes -r requirements.lock
	@$(if $(UV),$(UV) pip install -q --compile-bytecode --python $(BIN)/python,$(BIN)/pip install -q --disable-pip-version-check) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	@$(if $(UV),$(UV) pip install -q --compile-bytecode --python $(BIN)/python,$(BIN)/pip install -q --disable-pip-version-check) --require-hashes -r requirements-dev.lock
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
