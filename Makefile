# Python >= 3.11 and make are all that a fresh machine needs: every target sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export MPLBACKEND := Agg

.PHONY: setup programs demo test test-all test-inspect test-versions check format bench openapi docs clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "stopwise needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  --editable '.[dev,plots,tables,docs]'
	touch $@

# what tests and benchmarks need beside Python: silent if it is here
programs:
	@tools/programs.sh

demo: setup
	$(BIN)/python examples/headline.py
	$(BIN)/python examples/first_look.py
	@echo "Next: docs/first-campaign.md for an experiment of your own, docs/tutorial.md for simulations, and"
	@echo "$(BIN)/stopwise serve campaigns.db for the page. $(BIN)/stopwise --help lists the commands."

test: programs setup
	$(BIN)/python -m pytest -n 2 --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/families/test_families.py \
	  tests/oracles/test_golden.py tests/core/test_compiled.py

test-all: programs setup
	$(BIN)/python -m pytest -n 2 -m 'slow or not slow'

# inspect_ai brings half a hundred packages, two of them older than what we pin: it has an environment of its own
test-inspect:
	test -x out/inspect/bin/python || $(PYTHON) -m venv out/inspect
	out/inspect/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[inspect,postgresql]' pytest
	out/inspect/bin/python -m pytest tests/evals/test_inspect.py

# the oldest and the newest versions that pyproject.toml allows, each in an environment of its own
VERSIONS := tests/cli/test_cli.py tests/cli/test_campaign_cli.py tests/engine/test_frozen.py \
  tests/core/test_compiled.py tests/core/test_cache.py tests/oracles/test_golden.py \
  tests/campaign/test_campaign_stores.py tests/campaign/test_imports.py \
  tests/campaign/test_old_campaigns.py tests/web/test_service.py

test-versions: programs
	for age in oldest newest; do \
	  test $$age = oldest && constraint='--constraint constraints-oldest.txt' || constraint=--upgrade; \
	  test -x out/$$age/bin/python || $(PYTHON) -m venv out/$$age || exit 1; \
	  out/$$age/bin/python -m pip install --quiet --disable-pip-version-check $$constraint \
	    --editable '.[dask,plots,postgresql,service,sklearn,tables]' pytest hypothesis || exit 1; \
	  out/$$age/bin/python -m pytest $(VERSIONS) || exit 1; \
	done

check: setup
	$(BIN)/ruff format --check src tests bench examples tools
	$(BIN)/ruff check src tests bench examples tools
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format src tests bench examples tools
	$(BIN)/ruff check --fix src tests bench examples tools

bench: programs setup
	$(BIN)/python bench/oracles.py
	$(BIN)/python bench/engine.py
	$(BIN)/python bench/arms.py --sizes 10 100 1000
	$(BIN)/python bench/strategies.py
	$(BIN)/python bench/bounds.py
	$(BIN)/python bench/first_result.py
	$(BIN)/python bench/studies.py
	$(BIN)/python bench/paired.py
	$(BIN)/python bench/campaigns.py
	$(BIN)/python bench/service.py

openapi: setup
	$(BIN)/python -c 'from stopwise.web.app import contract; print(contract(), end="")' > docs/openapi.json

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site: out/site/index.html"

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis out
