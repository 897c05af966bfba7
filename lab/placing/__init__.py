"""Which part of its context a known reply left at its first wrong byte. One rule: it reads a stored
history, and knows the model by its integers.
"""
