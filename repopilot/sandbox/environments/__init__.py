"""A repository's own environment: the packages that its tests need, built with uv, kept outside of the repository."""
