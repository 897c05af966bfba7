"""The formats and sums said again; they stand in `kernels.exact`."""

from kernels.exact import attend, copy_pages, copy_tokens, index_keys, latents

__all__ = ["attend", "copy_pages", "copy_tokens", "index_keys", "latents"]
