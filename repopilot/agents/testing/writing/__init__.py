"""Write tests for a named definition: each is run, and kept when it notices faults that were made on purpose."""
