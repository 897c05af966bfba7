"""The operations of the path: one a file, as reference, Triton kernel and wrapper."""
