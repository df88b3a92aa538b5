"""Controls of a pass: tests with wrong expectations, and code with faults, where an honest run fails. Pure."""
