"""How the page looks, and how it filters. One rule: no font, image or script from elsewhere."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #6a6a6a; --head: #f4f4f4; }
@media (prefers-color-scheme: dark) { :root { --dim: #a5a5a5; --head: #262626; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 100rem;
       padding: 0 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
form { position: sticky; top: 0; padding: .6rem 0; background: Canvas; z-index: 2; }
input { width: 22rem; max-width: 100%; } input, select { font: inherit; padding: .25rem .4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .5rem .7rem; text-align: left;
         vertical-align: top; overflow-wrap: anywhere; }
th { background: var(--head); }
table { table-layout: fixed; } th:first-child { width: 19%; } table:first-of-type th { width: 41%; }
table:first-of-type th:first-child { width: 18%; } td p { margin: .2rem 0; color: var(--dim); }
td p.what { color: inherit; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .7rem; margin: .2rem 0; }
dt { color: var(--dim); } dd { margin: 0; }
code { font-size: .95em; }
.kind { border: 1px solid var(--line); border-radius: .6rem; padding: 0 .45rem; font-size: .85em;
        white-space: nowrap; }
.corrupting, .violation { color: #c0392b; } .liveness, .fault { color: #b9770e; }
tr { scroll-margin-top: 4rem; } tr:target td { background: #ffd54f33; }
@media print { form { display: none; } }
"""

SCRIPT = """
const form = document.querySelector("form"), [words, kind] = form.querySelectorAll("input, select");
const rows = [...document.querySelectorAll("tbody tr")];
const incidents = new Set(document.querySelectorAll("table:first-of-type tbody tr"));
function filter() {
  const wanted = words.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const other = kind.value && incidents.has(row) && row.dataset.kind !== kind.value;
    row.hidden = other || !wanted.every(word => text.includes(word));
    shown += !row.hidden;
  }
  for (const table of document.querySelectorAll("table")) {
    const none = !table.querySelector("tbody tr:not([hidden])");
    table.hidden = table.previousElementSibling.hidden = none;
  }
  form.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
}
function reveal() {
  const row = document.getElementById(location.hash.slice(1));
  if (row && row.hidden) { form.reset(); filter(); row.scrollIntoView(); }
}
form.hidden = false;
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("input", filter);
addEventListener("hashchange", reveal);
filter();
"""
