"""The known-answer checkpoint: plain Qwen2 blocks whose weights make every reply known."""
