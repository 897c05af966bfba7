"""`kvlab serve`: the bundled engine as a real server, by the wall's clock.

One rule: whoever asks it cannot tell it from a server of production; what is wrong with it is known
because its options said so.
"""
