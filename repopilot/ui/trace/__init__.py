"""The steps that led to an answer: while they run, and afterwards in the panel."""
