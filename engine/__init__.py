"""One in-process serving engine. It knows nothing of the lab, of files or of argv."""
