# Each target does its own set-up; set PYTHON to choose the interpreter: make train PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is written when a module is first imported, not for all of them at installation; where the environment
# forbids that, every start would compile its libraries again.
export PYTHONDONTWRITEBYTECODE :=
.DEFAULT_GOAL := help
.PHONY: help train quick test faults notebooks docs check lock clean
# Each worker gets a file at a time: it makes the fixtures of a module once, and seldom compiles the loop that another one
# is compiling. -rs prints the reason of each skip, so that a service that is missing in CI is noticed.
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -rs
LINT = $(BIN)/ruff check . && $(BIN)/ruff format --check .

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

train: .venv/.installed ## set up, then train SIGN on Cora (ARGS="dataset=communities model.p=2" for more)
	@$(BIN)/python src/train.py $(ARGS)

quick: .venv/.installed-dev ## set up, then run linters, type checks and the tests without a marker (two minutes)
	@$(LINT)
	@$(BIN)/mypy & $(PYTEST) -m "not slow and not spark and not browser and not postgres" $(ARGS); tests=$$?; wait $$! && exit $$tests

test: .venv/.installed-dev ## set up, then run linters, type checks and all tests
	@$(LINT)
	@$(BIN)/mypy & $(PYTEST) $(ARGS); tests=$$?; wait $$! && exit $$tests

faults: .venv/.installed-dev ## set up, then kill, misconfigure and starve the commands; print tries and failures (half an hour)
	@PYTHONPATH=tests $(BIN)/python -m faults --write docs/faults.md $(ARGS)

notebooks: .venv/.installed-dev ## set up, then run the notebooks and store their outputs, which the site shows
	@$(PYTEST) --overwrite notebooks $(ARGS)
	@$(BIN)/nbstripout --keep-output --extra-keys metadata.language_info notebooks/*.ipynb

docs: .venv/.installed-docs ## set up, then build the documentation site in docs/_build/html; warnings are errors
	@rm -rf docs/_build/html  # a page that was renamed would stay
	@$(BIN)/python -m sphinx -W --keep-going --quiet -d docs/_build/doctrees docs docs/_build/html
	@$(BIN)/python tools/check_links.py docs/_build/html

check: .venv/.installed-dev ## run every pre-commit hook on every file
	@$(BIN)/pre-commit run --all-files

lock: .venv/.created ## resolve requirements.lock from pyproject.toml (ARGS="--upgrade-package wandb" moves a pin)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --no-emit-index-url \
		--custom-compile-command "make lock" --output-file requirements.lock pyproject.toml $(ARGS)

clean: ## remove the environment and caches (data, store and outputs stay)
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/.created:
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON) here; name a Python 3.11 or later: make train PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; v = ".".join(map(str, sys.version_info[:3])); sys.exit(0 if sys.version_info >= (3, 11) else "SIGN needs Python 3.11 or later, but $(PYTHON) is " + v + "; name another one: make train PYTHON=python3.11")'
	@echo "Creating .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: .venv/.created pyproject.toml requirements.lock
	@echo "Installing the tested set into .venv (once; a few minutes)"
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c requirements.lock -e .
	@touch $@

.venv/.installed-dev: .venv/.created pyproject.toml requirements.lock
	@echo "Installing the tested set with the developer tools into .venv (once; a few minutes)"
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c requirements.lock -e '.[dev,spark]'
	@touch $@ .venv/.installed

.venv/.installed-docs: .venv/.created pyproject.toml requirements.lock
	@echo "Installing the tested set with Sphinx into .venv (once; a few minutes)"
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c requirements.lock -e '.[docs]'
	@touch $@ .venv/.installed
