"""Language models: which one answers, how it is reached, what it may reply."""
