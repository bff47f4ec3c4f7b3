# Every target stands on its own: on a fresh machine `make demo` or `make test` is enough.
.DEFAULT_GOAL := help
.PHONY: help setup demo test quick check lint types sql rules format ci nightly test-browser test-deploy test-postgres test-spark chaos fuzz bench growth headlines answers docs release \
  chromium java deployment spark audit lock clean

PYTHON ?= python3
# Many images set it; every process of the tests would compile vetl again.
unexport PYTHONDONTWRITEBYTECODE
BIN    := .venv/bin
# A file at a time: what a file sets up once is set up in one process.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
STAMP  := .venv/.installed
# The packages that `vetl` needs to run.
RUN    := .venv/.runs
# Modules are compiled once, here, and not by every command of an image that sets PYTHONDONTWRITEBYTECODE.
UV     := .venv/bin/uv pip install --quiet --no-progress --compile-bytecode
LOCKED := $(UV) --no-deps --require-hashes --only-binary :all:
# Targets that are made side by side wait for each other's installation.
APT    := apt-get -o DPkg::Lock::Timeout=600
QUICK  := tests/test_architecture.py tests/settings tests/reading tests/partner tests/cli/test_cli_usage.py \
  $(patsubst %,tests/store/test_%.py,warehouse frames merge) tests/e2e/test_sync_equals_truth.py

help:
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo "More, each with what it needs: $$(grep -hE '^[a-z-]+:.*#- ' $(MAKEFILE_LIST) | sed 's/:.*//' | paste -sd' ') (see the Makefile)"

# Daily

setup: $(STAMP)  ## .venv with vetl and all its tools, from the hash-pinned locks
demo: $(RUN)  ## The main job, end to end, on the sandbox
	$(BIN)/vetl demo

test: setup  ## Every test that needs nothing but Python
	@if $(PYTEST) --ignore tests/browser --ignore tests/deployed --ignore tests/postgres --ignore tests/spark; \
	then echo "All tests passed."; else echo "Some tests failed: see FAILED above."; exit 1; fi
	@echo "More tests: make test-browser (the dashboard in a browser), test-deploy (the processes of a deployment),"
	@echo "  test-postgres (the marts in a Postgres), test-spark (some models on Spark), nightly (more seeds and examples), fuzz, spark, bench."

quick: setup  ## Under a minute: what a change most likely breaks (imports, settings, strategies, client, store, a whole sync)
	$(PYTEST) -q $(QUICK)

check: setup  ## Lint, format, types, SQL lint, architecture, plain English
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types sql rules

format: setup  ## Rewrite the code in the house format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

docs: setup  ## The documentation as a site, in build/site; reference pages and dbt's own are generated
	$(BIN)/python deploy/site build/docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python deploy/site/dbt_docs.py build/site/reference/dbt.html

# ----------------------------------------------------------------------------------------------------------------------
# Below this line: the parts of the above, and what needs more than Python or more than minutes.

$(RUN): requirements.uv.lock requirements.run.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("vetl needs Python 3.11 to 3.13, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12") if not (3, 11) <= sys.version_info[:2] <= (3, 13) else 0'
	@echo "Setting up .venv: $$(grep -c '^[a-z]' requirements.run.lock) packages are downloaded, installed and compiled, in less than a minute."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: --requirement requirements.uv.lock
	@$(LOCKED) --requirement requirements.run.lock
	@$(UV) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q pipelines sandbox dashboards
	@touch $(RUN)
	@echo "vetl is installed: $(BIN)/vetl --help"

# One package has no wheel: it is built after the others, by the setuptools of the lock.
$(STAMP): $(RUN) requirements.lock requirements.built.lock
	@echo "Adding the tools of the tests: $$(grep -c '^[a-z]' requirements.lock) packages in all, in about a minute."
	@$(LOCKED) --requirement requirements.lock
	@$(UV) --no-deps --require-hashes --no-build-isolation --requirement requirements.built.lock
	@touch $(STAMP)

ci: setup  #- What must hold before anything lands
# Beside each other, the longest first, because each waits much: for the network, a process, its only thread. What a
# target prints comes at its end.
	$(MAKE) --jobs 3 --output-sync=target lint test test-spark test-browser test-deploy types sql test-postgres rules

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/basedpyright

sql:
	$(BIN)/sqlfluff lint dbt/models dbt/tests --disable-progress-bar

rules:
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_plain_english.py

chromium:
	@command -v chromium >/dev/null || $(APT) install --yes --quiet chromium >/dev/null 2>&1 || \
	  { echo "This needs chromium: install it, for example with apt-get install chromium" >&2; exit 1; }

java:
	@command -v java >/dev/null || $(APT) install --yes --quiet --no-install-recommends openjdk-17-jre-headless >/dev/null 2>&1 || \
	  { echo "This needs Java 17: install it, for example with apt-get install openjdk-17-jre-headless" >&2; exit 1; }

deployment:
	@{ command -v bwrap && command -v caddy && command -v docker-compose && command -v systemd-analyze && command -v redis-server && ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || \
	  $(APT) install --yes --quiet --no-install-recommends bubblewrap caddy docker-compose postgresql redis-server systemd >/dev/null 2>&1 || \
	  { echo "The deployment's tests need bubblewrap, caddy, docker-compose, postgresql, redis-server and systemd: install them, for example with apt-get" >&2; exit 1; }

test-browser: setup chromium  #- The dashboard in Debian's chromium, which it installs where it may
	$(BIN)/python -m pytest tests/browser

test-deploy: setup deployment  #- The files of deploy/, and their processes with Postgres; installs Debian's packages where it may
	$(PYTEST) tests/deployed

test-postgres: setup  #- The marts in a Postgres; installs Debian's package where it may
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || $(APT) install --yes --quiet --no-install-recommends postgresql >/dev/null 2>&1 || \
	  { echo "The tests of Postgres need its server: install postgresql, for example with apt-get" >&2; exit 1; }
	$(BIN)/python -m pytest tests/postgres

test-spark: setup java build/env/spark/.installed  #- Some models on Spark, as DuckDB makes them; installs Java from Debian where it may
	$(BIN)/python -m pytest tests/spark

# An environment of its own for a tool: its locked packages, and nothing of vetl's.
build/env/%/.installed: tools/%.lock requirements.uv.lock | setup
	@$(PYTHON) -m venv build/env/$*
	@.venv/bin/uv pip install --quiet --no-progress --python build/env/$*/bin/python --no-deps --require-hashes --requirement $<
	@touch $@

SEED  ?= $(shell date +%s)
TRUTH := tests/e2e/test_marts_equal_truth.py::test_a_mart_equals_the_truth

nightly: test chaos fuzz headlines  #- Hours: every test, 500 stories of each kind, all examples of the machines, fuzzing

chaos: setup  #- The marts against the truth of two more seeds, 500 stories of each kind, and state machines with new seeds
	for seed in 30 31; do VETL_TRUTH_SEED=$$seed $(BIN)/python -m pytest $(TRUTH) || exit 1; done
	VETL_CHAOS_SEEDS=500 $(BIN)/python -m pytest -n auto tests/chaos tests/e2e/test_forgetting_story.py
	$(BIN)/python -m pytest -n auto --hypothesis-profile explore --hypothesis-seed $(SEED) tests/reading tests/partner tests/store tests/receiving/test_drain.py tests/addons/act/test_apply_machine.py \
	  tests/sandbox/test_sandbox_openapi_explored.py tests/sandbox/test_contract_tasks.py

headlines: setup  #- Plant 240 facts in made-up years, and count which the headlines name (docs/headlines.md)
	$(BIN)/python -m benchmarks.headlines

bench: setup  #- Time the first sync against the floor of the same run, and the marts in full and after a small sync
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.marts --calls 1000000

growth: setup  #- What a sync, a build and a publication cost with 0.1, 1 and 10 million calls, of which 0, 1 or 1,000 are new (an hour, 12 GB)
	$(BIN)/python -m benchmarks.growth

fuzz: setup  #- Look for bytes that break what reads them (Python 3.11 and 3.12)
	for target in protocol calls_csv webhooks; do $(BIN)/python -m fuzz $$target --seconds 300 || exit 1; done

answers: setup chromium  #- Write the answers on the analysts' page and in README again, and the picture of the dashboard
	rm -rf build/answers
	$(BIN)/vetl demo --folder build/answers
	$(BIN)/python tests/support/analysts_page.py build/answers/warehouse/data/analytics.duckdb
	PYTHONPATH=tests $(BIN)/python tests/support/readme_example.py build/answers/warehouse/data/analytics.duckdb

spark: setup java build/env/spark/.installed  #- Build the models on Spark too (needs Java 17) and compare each with DuckDB's
	PYTHONPATH=tests $(BIN)/python -m spark --python build/env/spark/bin/python

clients: setup build/env/clients-oldest/.installed build/env/clients-today/.installed  #- Read a published file with the oldest DuckDB, and with pandas, polars, SQLAlchemy and ibis of today
	PYTHONPATH=tests $(BIN)/python -m clients

release: answers build/env/release/.installed  #- dist/: wheel, source archive, SBOM, notes, checksums, each tried in empty environments
	build/env/release/bin/python deploy/release

audit: build/env/audit/.installed  #- Compare the lock with the Python advisory database (needs the network)
	build/env/audit/bin/pip-audit --require-hashes --disable-pip --requirement requirements.lock --requirement requirements.built.lock

RESOLVE := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url \
  --no-emit-find-links --no-header --no-annotate
lock: setup  #- Resolve the dependencies anew: all, those without a wheel, those that vetl needs to run, and each tool's
	$(RESOLVE) pyproject.toml --extra assistant --extra dashboard --extra report --extra postgres --extra lake --extra notebook --extra deploy --extra workers --group dev \
	  --no-emit-package vetl-warehouse --no-emit-package halo --output-file requirements.lock
	echo halo | $(RESOLVE) --no-deps --output-file requirements.built.lock -
	echo uv | $(RESOLVE) --no-deps --output-file requirements.uv.lock -
	$(RESOLVE) pyproject.toml --group build --constraint requirements.lock --output-file requirements.run.lock
	for tool in spark release audit clients-oldest clients-today; do $(RESOLVE) tools/$$tool.txt --output-file tools/$$tool.lock || exit 1; done

clean:  #- Remove everything that was made, the demo's data included
	rm -rf .venv .cache demo dbt/target dbt/logs .pytest_cache .ruff_cache build dist
