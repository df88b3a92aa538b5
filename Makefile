.PHONY: run test thorough quick check docs lock sbom audit setup setup-dev
PY ?= python3
# Five processes on two cores, as much of the time is spent waiting (three for quick tests, which hardly wait); each takes
# a file, the longest first, when it has nothing left to do (tests/conftest.py). What pytest makes of the test files is
# kept, whatever the environment says: it takes longer than to run many of them.
PYTEST = PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest -n 5 --dist loadfile --no-loadscope-reorder
LOCK = .venv/bin/uv pip compile -q $(UPGRADE) --universal --python-version 3.11 --generate-hashes --no-header \
       --no-annotate --no-emit-index-url pyproject.toml --extra all

run: setup          ## start RepoPilot on http://127.0.0.1:8000
	.venv/bin/python -m repopilot serve

test: setup-dev     ## all that CI runs: every promise, with some of its cases
	@sh .ci/system.sh
	$(PYTEST) -m "not thorough"

thorough: setup-dev ## every test with all its cases: before a release, and after work on the sandbox or renames
	@sh .ci/system.sh
	$(PYTEST)

quick: setup-dev    ## the part you run all the time, under a minute
	$(PYTEST) -n 3 -m "not browser and not model and not slow and not thorough"

check: setup-dev    ## formatting, lint, types, direction of imports, declared packages
	.venv/bin/ruff format --no-cache --check .
	.venv/bin/ruff check --no-cache .
	.venv/bin/mypy
	PYTHONPATH=. .venv/bin/lint-imports --no-logo
	.venv/bin/deptry .

docs: setup-dev     ## write the generated parts of the documentation again
	PYTHONPATH=. .venv/bin/python docs/generate.py
	PYTHONPATH=. .venv/bin/python docs/dependencies.py licences

sbom: setup-dev     ## write sbom.cdx.json: the dependencies as CycloneDX
	PYTHONPATH=. .venv/bin/python docs/dependencies.py sbom

audit: setup-dev    ## look for advisories against the locked packages, where the service is reached
	.venv/bin/python .ci/audit.py

lock: setup-dev     ## resolve what pyproject.toml asks for; all anew with UPGRADE=--upgrade
	$(LOCK) -o requirements.txt
	$(LOCK) --group dev -o requirements-dev.txt

setup:
	@PYTHON="$(PY)" sh .ci/setup.sh requirements.txt

setup-dev:
	@PYTHON="$(PY)" sh .ci/setup.sh requirements-dev.txt
