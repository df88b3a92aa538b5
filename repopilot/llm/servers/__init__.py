"""Model servers: their addresses, their JSON answers, and the protocols that LlamaIndex doesn't cover."""
