"""What an operator could flip, one toggle a file; `registry.py` says what a toggle is."""
