"""The embedded model: llama.cpp in a child process."""
