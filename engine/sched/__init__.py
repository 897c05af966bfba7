"""Who runs next, and on which pages. No tensors, no clock."""
