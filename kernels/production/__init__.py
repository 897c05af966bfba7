"""Each kernel at the sizes of production: its inputs, what it is measured beside, and its floor."""
