#!/bin/sh
# Install what the tests need beside Python: a Chromium (the system's own, else one from the system's packages, else
# Playwright's), bubblewrap on Linux, PostgreSQL, Maven's surefire, and, where there is npm, the conformance suite of MCP
# and the language server of TypeScript. Never fails: the test run ends with a list of what was left out and why, and CI
# fails on it.
system_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@") >/dev/null 2>&1
}
has_browser() {
    for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable microsoft-edge; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}
install_browser() {
    echo "No Chromium found: installing it from the system's packages." >&2
    system_packages chromium-headless-shell && has_browser && return 0
    system_packages chromium && has_browser && return 0
    echo "Installing Playwright's own Chromium." >&2
    .venv/bin/python -m playwright install chromium >/dev/null 2>&1
}
if [ "$(uname)" = Linux ] && ! command -v bwrap >/dev/null 2>&1; then
    echo "No bubblewrap found: installing it from the system's packages." >&2
    system_packages bubblewrap || echo "Could not install bubblewrap: its sandbox tests will be left out." >&2
fi
# Tests of conversations in a PostgreSQL server start one of their own.
if ! command -v initdb >/dev/null 2>&1 && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
    echo "No PostgreSQL found: installing it from the system's packages." >&2
    system_packages postgresql || echo "Could not install PostgreSQL: its tests will be left out." >&2
fi
# Tests of Java run by Maven with Debian's own artifacts.
if command -v mvn >/dev/null 2>&1 && [ ! -d /usr/share/maven-repo/org/apache/maven/surefire/surefire-junit4 ]; then
    echo "No surefire found: installing it from the system's packages." >&2
    system_packages libsurefire-java junit4 libmaven-compiler-plugin-java libmaven-resources-plugin-java ||
        echo "Could not install surefire: the tests that Maven runs will be left out." >&2
fi
# The conformance suite of MCP and the language server of TypeScript, pinned in their lock files.
for suite in .ci/conformance .ci/typescript; do
    if command -v npm >/dev/null 2>&1 && ! cmp -s $suite/package-lock.json $suite/node_modules/installed; then
        echo "Installing what $suite names." >&2
        npm ci --silent --no-audit --no-fund --prefix $suite &&
            cp $suite/package-lock.json $suite/node_modules/installed ||
            echo "Could not install what $suite names: its tests will be left out." >&2
    fi
done
# Libraries that wheels need and a minimal Debian lacks.
if ! .venv/bin/python -c "import xllamacpp" >/dev/null 2>&1; then
    echo "The embedded engine does not start: installing libgomp from the system's packages." >&2
    system_packages libgomp1 || echo "Could not install libgomp: the tests of the embedded engine will fail." >&2
fi
if ! .venv/bin/python -m playwright --version >/dev/null 2>&1; then
    echo "Playwright's driver does not start: installing libatomic from the system's packages." >&2
    system_packages libatomic1 || echo "Could not install libatomic: the browser tests will be left out." >&2
fi
# The headless shell takes a quarter less processor time than a whole browser, so it is wanted beside one, where the
# system's packages are known to have it.
if ! command -v chromium-headless-shell >/dev/null 2>&1 &&
    apt-cache show chromium-headless-shell >/dev/null 2>&1; then
    echo "No headless shell of Chromium found: installing it from the system's packages." >&2
    system_packages chromium-headless-shell
fi
has_browser || install_browser || echo "Could not install a browser: the browser tests will be left out." >&2
exit 0
