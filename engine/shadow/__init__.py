"""Who wrote each row, and who owned it: the ledger behind every verdict."""
