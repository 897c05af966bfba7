"""What a person reads of a run: the A/B table, the worst replies, the figures, a bug report.

One rule: a report only arranges what the verdict says; it judges nothing and changes nothing.
"""
