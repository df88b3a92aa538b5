"""How fast a model is on this machine: measured, estimated from others, and which size is fast enough."""
