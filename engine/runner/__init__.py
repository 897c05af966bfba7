"""How a batch becomes tensor work: eager, or replayed from static buffers."""
