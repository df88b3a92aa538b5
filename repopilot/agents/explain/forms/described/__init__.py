"""Answers to questions that describe a thing instead of naming it, where one place clearly wins."""
