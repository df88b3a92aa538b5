"""Test runners of other languages than Python: a row each in runner_table.py, a module each for how it is run and read.

A runner knows in which repositories it is used, the command that runs tests, and how to read the report. What it
reports is never believed alone, since the code under test can write a report as well: a pass is called verified only
once a fault that we put into the changed code has turned one of the tests red (see agents/generate).
"""
