#!/bin/sh
# Create or bring up to date the environment in .venv. Usage: setup.sh REQUIREMENTS
# Does nothing when the requirements have not changed since the last time.
set -eu
requirements=$1
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "RepoPilot needs Python 3.11 or newer; '$python' is $("$python" --version 2>&1). Try: make PY=python3.12" >&2; exit 1; }
command -v git >/dev/null || { echo "RepoPilot needs git: install it from your system's packages." >&2; exit 1; }
stamp=.venv/$(basename "$requirements").installed
if [ -x .venv/bin/python ] && cmp -s "$requirements" "$stamp"; then exit 0; fi
if [ ! -x .venv/bin/python ]; then
    "$python" -m venv .venv || {
        rm -rf .venv
        echo "Python's venv module is missing (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
fi
.venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r .ci/uv.txt
.venv/bin/uv pip install -q --link-mode=copy --compile-bytecode --python .venv/bin/python --require-hashes -r "$requirements"
cp "$requirements" "$stamp"
# The development requirements contain the others.
[ "$requirements" = requirements-dev.txt ] && cp requirements.txt .venv/requirements.txt.installed || true
