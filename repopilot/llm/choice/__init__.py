"""Finds, chooses, loads and describes the models that answer."""
