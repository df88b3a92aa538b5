.PHONY: run test quick lock lint setup setup-dev
PY ?= python3

run: setup          ## start RepoPilot on http://127.0.0.1:8000
	.venv/bin/python -m repopilot serve

test: setup-dev     ## the whole suite
	@sh .ci/system.sh
	.venv/bin/python -m pytest

quick: setup-dev    ## the part you run all the time, under a minute
	.venv/bin/python -m pytest -m "not browser and not model and not slow"

setup:
	@PYTHON="$(PY)" sh .ci/setup.sh requirements.txt

setup-dev:
	@PYTHON="$(PY)" sh .ci/setup.sh requirements-dev.txt

lint: setup-dev
	.venv/bin/ruff check .

lock: setup-dev     ## resolve requirements*.in again
	.venv/bin/uv pip compile -q --upgrade --no-header --no-annotate --no-emit-index-url requirements.in -o requirements.txt
	.venv/bin/uv pip compile -q --upgrade --no-header --no-annotate --no-emit-index-url requirements-dev.in -o requirements-dev.txt
