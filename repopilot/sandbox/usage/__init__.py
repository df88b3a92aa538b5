"""What a run uses, according to the kernel: processes, memory, disk."""
