"""`kvlab kernels audit`: what is asked of the kernels here, and how the answers are told."""
