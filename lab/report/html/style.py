"""How the page looks, in the light, in the dark and on paper.

One rule: nothing is told by colour alone.

Figures take their colours from the page: the house's palette (Okabe and Ito, 2008) by names, which
are lighter where the ground is dark.
"""

from __future__ import annotations

from collections.abc import Mapping

# What the figures are drawn with -> the page's name of it.
COLOURS: Mapping[str, str] = {
    "#222222": "currentColor",
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#d9d9d9": "var(--grid)",
    "#0072b2": "var(--blue)",
    "#d55e00": "var(--red)",
    "#e69f00": "var(--amber)",
    "#cc79a7": "var(--pink)",
    "#009e73": "var(--green)",
    "#56b4e9": "var(--sky)",
    "#7f7f7f": "var(--grey)",
}

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #222; --dim: #5c5c5c; --grid: #d9d9d9;
  --line: #dcdcdc; --head: #f5f5f3; --blue: #0072b2; --red: #d55e00; --amber: #e69f00;
  --pink: #cc79a7; --green: #009e73; --sky: #56b4e9; --grey: #7f7f7f; --bad: #a83f00;
  --good: #00598c; --unsure: #7a5500; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e4e4e2; --dim: #a3a5a8;
  --grid: #3a3d42; --line: #34373c; --head: #202327; --blue: #4fb0ea; --red: #ff8b45;
  --amber: #f3b73c; --pink: #e39cc3; --green: #2fc79a; --sky: #8fd0f5; --grey: #9b9ea3;
  --bad: #ff9d61; --good: #74c3f2; --unsure: #f3c567; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; }
.sheet { display: grid; grid-template-columns: 13rem minmax(0, 64rem); gap: 0 2.5rem;
  max-width: 82rem; margin: 0 auto; padding: 1.5rem; }
header { grid-column: 1 / -1; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
h1 { font-size: 1.1rem; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.headline { font-size: 1.4rem; line-height: 1.35; margin: .6rem 0; max-width: 60rem; }
.about { color: var(--dim); margin: 0 0 1rem; overflow-wrap: anywhere; }
nav { position: sticky; top: 1rem; align-self: start; max-height: 95vh; overflow: auto;
  font-size: .92rem; }
nav ol { list-style: none; margin: 0; padding: 0; } nav li { margin: .25rem 0; }
nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }
section { border-bottom: 1px solid var(--line); padding-bottom: 1rem; margin-bottom: 1rem; }
h2 { font-size: 1.2rem; margin: .2rem 0 .6rem; } h3 { font-size: 1rem; margin: 1.1rem 0 .4rem; }
h2 a, h3 a { color: inherit; text-decoration: none; }
h2 a:hover::after, h2 a:focus::after { content: " #"; color: var(--dim); }
a { color: var(--good); } a:focus-visible, [tabindex]:focus-visible, summary:focus-visible {
  outline: 2px solid var(--blue); outline-offset: 2px; }
p { margin: .5rem 0; } ul { margin: .5rem 0; padding-left: 1.2rem; } li { margin: .15rem 0; }
li, p, dd { overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: left;
  vertical-align: top; }
thead th { background: var(--head); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 400; } caption { text-align: left; color: var(--dim); padding: .2rem 0; }
tbody th { min-width: 8rem; } td, tbody th { max-width: 26rem; overflow-wrap: break-word; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; }
.v { font-weight: 600; white-space: nowrap; } .v::before { content: "● "; }
.corrupt, .CONFIRMED, .wedged, .corrupting { color: var(--bad); }
.corrupt::before, .CONFIRMED::before { content: "◆ "; } .wedged::before { content: "✕ "; }
.clean, .NOT-REPRODUCED { color: var(--good); }
.inconclusive, .nondeterministic, .parser_fault, .SUSPECT, .UNDETERMINED, .NOT-CONTROLLED, .INVALID,
.LIVENESS, .interrupted, .failed, .liveness { color: var(--unsure); }
.inconclusive::before, .interrupted::before, .failed::before { content: "▲ "; }
.kind { border: 1px solid; border-radius: .6rem; padding: 0 .5rem; font-size: .85rem; }
.no { color: var(--bad); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem;
  margin: .5rem 0; }
dt { color: var(--dim); } dd { margin: 0; }
pre { background: var(--head); padding: .6rem .8rem; overflow-x: auto; border-radius: .3rem;
  font: .86rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; margin: .4rem 0; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em; }
figure { margin: .8rem 0 1.2rem; } figcaption { color: var(--dim); font-size: .92rem; }
.plot { overflow-x: auto; } .plot svg { display: block; height: auto; max-width: 100%; }
.plot.broad svg { max-width: none; }
.plot svg * { stroke-linejoin: round; stroke-linecap: butt; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--dim); }
article { border-left: 3px solid var(--line); padding-left: 1rem; margin: 1rem 0; }
article:target, section:target h2 { border-color: var(--red); }
@media (max-width: 72rem) { .sheet { display: block; } nav { position: static; max-height: none;
  margin-bottom: 1rem; } nav ol { display: flex; flex-wrap: wrap; gap: 0 1rem; } }
@media print { :root { --paper: #fff; --ink: #000; --dim: #444; --grid: #d9d9d9; --line: #bbb;
  --head: #f2f2f2; --blue: #0072b2; --red: #d55e00; --amber: #e69f00; --pink: #cc79a7;
  --green: #009e73; --sky: #56b4e9; --grey: #7f7f7f; --bad: #a83f00; --good: #00598c;
  --unsure: #7a5500; }
  body { font-size: 10pt; } .sheet { display: block; padding: 0; max-width: none; }
  nav, .skip { display: none; } .wide, .plot, pre { overflow: visible; }
  .plot svg, .plot.broad svg { max-width: 100%; } pre { white-space: pre-wrap; }
  figure, tr, article dl { break-inside: avoid; } h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; height: auto; } }
"""
