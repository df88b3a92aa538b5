"""Servers of models: their addresses, what they answer with, and the protocols that LlamaIndex doesn't cover."""
