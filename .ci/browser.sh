#!/bin/sh
# See that the browser tests have a Chromium: the system's, else one from the system's packages, else Playwright's own.
# Never fails: without a browser the suite leaves those tests out and says so.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "No Chromium found: installing it from the system's packages." >&2
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium) >/dev/null 2>&1
    command -v chromium >/dev/null && exit 0
fi
echo "No Chromium found: asking Playwright for its own." >&2
.venv/bin/python -m playwright install chromium >/dev/null 2>&1 && exit 0
echo "No browser could be installed: the tests marked 'browser' will be left out." >&2
