"""Small inputs after public bug reports of refactoring tools and language servers, in our own words and code."""
