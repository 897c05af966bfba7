"""Prefill/decode disaggregation: two engines, and what crosses between them.

One rule: the decode side owns the pages that a room is written to, the prefill side writes, and
whatever either of them does to its books happens between steps, once all its ranks agree.
"""
