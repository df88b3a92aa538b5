"""`python -m repopilot`."""

import sys

from repopilot.cli import main

sys.exit(main())
