"""Puts a change into commits: on a branch of a local repository, or pushed to a remote."""
