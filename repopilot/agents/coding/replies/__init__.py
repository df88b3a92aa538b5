"""Reads a model's replies: whole files, and blocks of lines to replace. Pure."""
