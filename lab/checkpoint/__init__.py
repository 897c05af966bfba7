"""Files of a checkpoint as engines read them. One rule: equal contents are equal bytes."""
