"""RepoPilot: a chat for a git repository that runs on the user's own machine."""

__version__ = "0.1.0"
