"""A hit as it is shown: neighbouring passages joined, its definition, the lines and words that matter."""
