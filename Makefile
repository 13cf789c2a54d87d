# Two commands do everything: `make check` judges ONNX Runtime, `make test` tests the project itself. `make check-all`
# judges everything for which there is an adapter, each in an environment of its own under .venvs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: check check-all test lint types golden clean

check: $(VENV)/ready-to-check
	$(BIN)/linattn check onnxruntime --html report.html --json report.json

check-all: $(VENV)/ready-to-check
	$(BIN)/python tools/check_all.py

test: $(VENV)/ready-to-develop
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

lint: $(VENV)/ready-to-develop
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/ready-to-develop
	$(BIN)/mypy

golden: $(VENV)/ready-to-develop
	$(BIN)/linattn golden verify

clean:
	rm -rf $(VENV) .venvs .linattn report.html report.json

# A stamp is as old as the installation: while pyproject.toml is older, nothing is installed again.
$(VENV)/ready-to-check: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[spec,onnx]'
	touch $@

$(VENV)/ready-to-develop: $(VENV)/ready-to-check
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
