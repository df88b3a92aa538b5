"""The weights of models on this machine: which are known, which are installed, how they are fetched."""
