"""Answers that code gives to questions of a known form: where, which, what calls, what default, which options, …"""
