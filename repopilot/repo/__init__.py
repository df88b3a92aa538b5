"""Repositories: addresses and paths, clones, which files are read, history, patches."""
