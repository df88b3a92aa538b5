"""Language models: which one answers, how it is called, and replies of a fixed shape."""
