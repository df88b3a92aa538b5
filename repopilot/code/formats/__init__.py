"""Files that hold data, settings, or code inside something else."""
