# Every target stands on its own: on a fresh machine `make demo` or `make test` is enough.
.DEFAULT_GOAL := help
.PHONY: help setup demo test quick test-browser test-deploy test-spark check lint types sql rules format bench chaos fuzz answers chromium spark clients superset docs release audit clean lock

PYTHON ?= python3
# Many images set it; every process of the tests would compile vetl again.
unexport PYTHONDONTWRITEBYTECODE
BIN    := .venv/bin
# A file at a time: what a file sets up once is set up in one process.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
STAMP  := .venv/.installed
# The packages that `vetl` needs to run.
RUN    := .venv/.runs
# Errors alone: of each missing folder in its configuration pip warns once for every package, which is hundreds of lines.
# Python compiles a module at its first import, and most modules of the tools are never imported.
QUIETLY := --quiet --quiet --disable-pip-version-check --no-deps --no-compile
LOCKED := $(BIN)/python -m pip install $(QUIETLY) --require-hashes
# Targets that are made side by side wait for each other's installation.
APT    := apt-get -o DPkg::Lock::Timeout=600
SPARK  := build/spark/venv
SUPERSET := build/superset/venv
RELEASE := build/release/venv
QUICK  := tests/test_architecture.py tests/settings tests/strategies tests/partner tests/cli/test_cli_usage.py \
  $(patsubst %,tests/loading/test_%.py,warehouse frames merge) tests/e2e/test_sync_equals_truth.py

help:  ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP)  ## .venv with vetl and all its tools, from the hash-pinned lock

$(RUN): requirements.run.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("vetl needs Python 3.11 to 3.13, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12") if not (3, 11) <= sys.version_info[:2] <= (3, 13) else 0'
	@echo "Setting up .venv: $$(grep -c '^[a-z]' requirements.run.lock) packages are downloaded and installed, in about a minute."
	@$(PYTHON) -m venv .venv
	@$(LOCKED) --only-binary :all: --requirement requirements.run.lock
	@$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --editable .
	@touch $(RUN)
	@echo "vetl is installed: $(BIN)/vetl --help"

# One package has no wheel: it is built after the others, by the setuptools of the lock.
$(STAMP): $(RUN) requirements.lock requirements.built.lock
	@echo "Adding the tools of the tests: $$(grep -c '^[a-z]' requirements.lock) packages in all, in two to four minutes."
	@$(LOCKED) --only-binary :all: --requirement requirements.lock
	@$(LOCKED) --no-build-isolation --requirement requirements.built.lock
	@touch $(STAMP)

demo: $(RUN)  ## The main job, end to end, on the sandbox
	$(BIN)/vetl demo

test: setup  ## Every test that needs nothing but Python
	@if $(PYTEST) --ignore tests/browser --ignore tests/deployed --ignore tests/spark; \
	then echo "All tests passed."; else echo "Some tests failed: see FAILED above."; exit 1; fi
	@echo "More tests: make test-browser (the dashboard in a browser), test-deploy (the processes of a deployment),"
	@echo "  test-spark (some models on Spark), chaos, fuzz, spark, bench."

quick: setup  ## Under a minute: what a change most likely breaks (imports, settings, strategies, client, loading, a whole sync)
	$(PYTEST) -q $(QUICK)

test-browser: setup chromium  ## The dashboard in Debian's chromium, which it installs where it may
	$(PYTEST) tests/browser

chromium:
	@command -v chromium >/dev/null || $(APT) install --yes --quiet chromium >/dev/null 2>&1 || \
	  { echo "This needs chromium: install it, for example with apt-get install chromium" >&2; exit 1; }

test-deploy: setup  ## The files of deploy/, and their processes with Postgres; installs Debian's packages where it may
	@{ command -v caddy && command -v docker-compose && command -v systemd-analyze && command -v redis-server && ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || \
	  $(APT) install --yes --quiet --no-install-recommends caddy docker-compose postgresql redis-server systemd >/dev/null 2>&1 || \
	  { echo "The deployment's tests need caddy, docker-compose, postgresql, redis-server and systemd: install them, for example with apt-get" >&2; exit 1; }
	$(BIN)/python -m pytest tests/deployed

test-spark: setup $(SPARK)/.installed  ## Some models on Spark, as DuckDB makes them; installs Java from Debian where it may
	@command -v java >/dev/null || $(APT) install --yes --quiet --no-install-recommends openjdk-17-jre-headless >/dev/null 2>&1 || \
	  { echo "The tests of Spark need Java 17: install it, for example with apt-get install openjdk-17-jre-headless" >&2; exit 1; }
	$(BIN)/python -m pytest tests/spark

TRUTH := $(addprefix tests/e2e/test_marts_equal_truth.py::test_a_,mart_equals_the_truth question_is_answered_with_the_truth)

chaos: setup  ## The marts against the truth of two more seeds, 500 stories each of a moving source, of overlapping commands and of a forgetting, and state machines with new seeds
	for seed in 30 31; do VETL_TRUTH_SEED=$$seed $(BIN)/python -m pytest $(TRUTH) || exit 1; done
	VETL_CHAOS_SEEDS=500 $(BIN)/python -m pytest -n auto tests/chaos tests/chaos/year_of_acting.py tests/e2e/test_forgetting_story.py
	$(BIN)/python -m pytest -n auto --hypothesis-profile explore tests/strategies tests/partner tests/loading tests/receiving/test_drain.py tests/acting/test_apply_machine.py \
	  tests/sandbox/test_sandbox_openapi_explored.py tests/sandbox/test_contract_lists.py tests/sandbox/test_contract_tasks.py

check: setup  ## Lint, format, types, SQL lint, architecture, plain English
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types sql rules

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/basedpyright

sql:
	$(BIN)/sqlfluff lint dbt/models dbt/tests --disable-progress-bar

rules:
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_plain_english.py

format: setup  ## Rewrite the code in the house format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: setup  ## Time the first sync against the floor of the same run, and the marts in full and after a small sync
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.marts --calls 1000000

fuzz: setup  ## Look for bytes that break what reads them (Python 3.11 and 3.12)
	for target in protocol calls_csv webhooks; do $(BIN)/python -m fuzz $$target --seconds 300 || exit 1; done

answers: setup chromium  ## Write the answers on the analysts' page and in README again, and the picture of the dashboard
	rm -rf build/answers build/year
	$(BIN)/vetl demo --days 60 --folder build/answers
	$(BIN)/python tests/support/analysts_page.py build/answers/warehouse/data/analytics.duckdb
	$(BIN)/vetl demo --folder build/year
	PYTHONPATH=tests $(BIN)/python tests/support/readme_example.py build/year/warehouse/data/analytics.duckdb

spark: setup $(SPARK)/.installed  ## Build the models on Spark too (needs Java 17) and compare each with DuckDB's
	PYTHONPATH=tests $(BIN)/python -m spark --python $(SPARK)/bin/python

$(SPARK)/.installed: tests/spark/requirements.txt
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

clients: setup  ## Read a published file with older DuckDBs, pandas and polars, each in an environment of its own
	PYTHONPATH=tests $(BIN)/python -m clients

superset: setup $(SUPERSET)/.installed  ## Show a mart in Superset, made by its API, and compare the chart with the mart
	PYTHONPATH=tests $(BIN)/python -m bi --python $(SUPERSET)/bin/python

$(SUPERSET)/.installed: tests/bi/requirements.txt
	$(PYTHON) -m venv $(SUPERSET)
	$(SUPERSET)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

docs: setup  ## The documentation as a site, in build/site; reference pages and dbt's own are generated
	$(BIN)/python deploy/site build/docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python deploy/site/dbt_docs.py build/site/reference/dbt.html

release: answers $(RELEASE)/.installed  ## dist/: wheel, source archive, SBOM, notes, checksums, each tried in empty environments
	$(RELEASE)/bin/python deploy/release

$(RELEASE)/.installed: deploy/release/requirements.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

audit:  ## Compare the lock with the Python advisory database (needs the network)
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: pip-audit
	build/audit/bin/pip-audit --require-hashes --disable-pip --requirement requirements.lock --requirement requirements.built.lock

RESOLVE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url \
  --no-emit-find-links --no-header --no-annotate
lock:  ## Resolve the dependencies anew (needs uv): all, those without a wheel, and those that vetl needs to run
	$(RESOLVE) pyproject.toml --extra assistant --extra dashboard --extra report --extra forecast --extra notebook --extra deploy --extra workers --group dev \
	  --no-emit-package vetl-warehouse --no-emit-package halo --output-file requirements.lock
	echo halo | $(RESOLVE) --no-deps --output-file requirements.built.lock -
	$(RESOLVE) pyproject.toml --group build --constraint requirements.lock --output-file requirements.run.lock

clean:  ## Remove everything that was made, the demo's data included
	rm -rf .venv demo dbt/target dbt/logs .pytest_cache .ruff_cache build dist
