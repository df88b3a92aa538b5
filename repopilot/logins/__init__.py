"""Who asks where a team logs in, and which repositories are theirs."""
