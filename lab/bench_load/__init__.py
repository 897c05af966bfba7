"""Load generators against a server of which the truth is known: ours, and others beside it.

Rule: all are measured with one ruler: the server says what was sent, `/proc` what it cost to ask.
"""
