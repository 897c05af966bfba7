"""Where KV rows live: page layouts, the page allocator and the device buffers."""
