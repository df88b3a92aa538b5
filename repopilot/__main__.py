"""`python -m repopilot`."""

import sys

from repopilot.cli.app import main

sys.exit(main())
