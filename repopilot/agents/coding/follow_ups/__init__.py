"""What a change makes necessary elsewhere: callers, exports, stubs, tests and texts, found by code."""
