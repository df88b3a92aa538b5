"""Look for advisories against the locked packages. `make audit`; CI runs it where it reaches the service.

Exit status 1 where there are advisories; without a connection it says so and ends with 0. pip-audit itself is fetched
by uv for this run, since it is no part of the program.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PIP_AUDIT = "pip-audit==2.10.1"
ROOT = Path(__file__).resolve().parents[1]
IGNORED: dict[str, str] = {}
"""Advisories that don't concern us, each with the reason."""


def audited(requirements: Path) -> list[dict] | None:
    """The packages as pip-audit reports them; None where it can't reach what it needs."""
    command = [str(ROOT / ".venv" / "bin" / "uv"), "tool", "run", "--from", PIP_AUDIT, "pip-audit", "--format", "json"]
    command += ["--requirement", str(requirements), "--disable-pip", "--require-hashes", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(done.stderr.strip()[-1_500:], file=sys.stderr)
        return None


def main() -> int:
    """Run from the command line."""
    found = audited(ROOT / "requirements.txt")
    if found is None:
        print("Advisories: not reachable, nothing was checked.")
        return 0
    advisories = [
        f"{package['name']} {package['version']}: {each['id']}, fixed in {', '.join(each['fix_versions']) or 'none'}"
        for package in found
        for each in package.get("vulns", ())
        if each["id"] not in IGNORED and not set(each.get("aliases", ())) & set(IGNORED)
    ]
    print("\n".join(advisories) or f"Advisories: none against {len(found)} packages.")
    return bool(advisories)


if __name__ == "__main__":
    sys.exit(main())
