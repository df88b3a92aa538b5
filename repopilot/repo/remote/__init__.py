"""Talks to remotes: which addresses may be contacted, with which token, and how refs are fetched."""
