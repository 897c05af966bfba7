"""Which KV pages hold the KV of which tokens, so that a prefix is computed once. No tensors."""
