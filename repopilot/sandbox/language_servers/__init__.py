"""Language servers: programs that know what the names of a language mean, run in the sandbox and asked over LSP."""
