"""Test runners of languages other than Python: for each a row in runner_table.py, and a module to run it and read its
report.

A runner knows which repositories use it, the command that runs tests, and how to read the report. A report is never
trusted alone, since the code under test can forge one: a pass is called verified only once a fault that we put into the
changed code has turned one of the tests red (see agents/generate).
"""
