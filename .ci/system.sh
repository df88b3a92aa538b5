#!/bin/sh
# See that the tests have a Chromium (the system's, else one from the system's packages, else Playwright's own) and
# bubblewrap. Never fails: without them the suite leaves those tests out and says so.
packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@") >/dev/null 2>&1
}
chromium() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}
if [ "$(uname)" = Linux ] && ! command -v bwrap >/dev/null; then
    echo "No bubblewrap found: asking the system's packages for it." >&2
    packages bubblewrap || echo "It could not be installed: the tests of that sandbox level will be left out." >&2
fi
chromium && exit 0
echo "No Chromium found: asking the system's packages for it." >&2
packages chromium && chromium && exit 0
echo "No Chromium found: asking Playwright for its own." >&2
.venv/bin/python -m playwright install chromium >/dev/null 2>&1 && exit 0
echo "No browser could be installed: the tests marked 'browser' will be left out." >&2
