"""What a run uses, as the kernel tells it: processes, memory, disk."""
