"""The job that builds an index, from the files of a snapshot to a published generation."""
