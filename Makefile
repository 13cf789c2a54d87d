# Two commands do everything: `make check` judges ONNX Runtime, `make test` tests the project itself.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: check test lint types golden clean

check: $(VENV)/ready-to-check
	$(BIN)/linattn check onnxruntime --html report.html --json report.json

test: $(VENV)/ready-to-develop
	$(BIN)/python -m pytest

lint: $(VENV)/ready-to-develop
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/ready-to-develop
	$(BIN)/mypy

golden: $(VENV)/ready-to-develop
	$(BIN)/linattn golden verify

clean:
	rm -rf $(VENV) .linattn report.html report.json

# A stamp is as old as the installation: while pyproject.toml is older, nothing is installed again.
$(VENV)/ready-to-check: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[spec,onnx]'
	touch $@

$(VENV)/ready-to-develop: $(VENV)/ready-to-check
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
