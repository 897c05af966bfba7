"""Each kernel against its float64 reference: one file a kernel, each check with the inputs in
words, what was measured, and the most that it may be.
"""
