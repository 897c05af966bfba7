"""One session's failure again: stopped at the violation, shortened, and packed to travel.

One rule: what is told was run, from its seed; whatever goes another way than it went is named.
"""
