"""`kvlab bisect` on a target: the search of `lab.bisect` over real trials, stored and shown."""
