"""The report of a run or a bisection as one HTML page that a browser opens as it is.

    elements   tags, tables and links, escaped          style    how the page looks
    pictures   figures as inline SVG                    page     the frame: head, verdict, contents
    known      names that link to what they mean        run      a run's parts, in order
    explained  one wrong reply, step by step            bisection   a bisection's parts

One rule: the page is whole. It runs no script, and no font, image or style comes from elsewhere.
"""
