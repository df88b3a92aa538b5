"""Manifests of projects: what they require, and what they say about themselves."""
