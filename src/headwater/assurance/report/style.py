"""How the page looks: on a screen, light and dark, and on paper. Nothing of it is fetched."""

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f6f7f8; --line: #d9dde1; --words: #1b2126; --dim: #5b6670;
  --accent: #0b6b77; --good: #176b3a; --bad: #b3261e; --open: #8a5a00;
  --good-ground: #e8f4ec; --bad-ground: #fdeceb; --open-ground: #fdf4e3;
  --processed: #2f93a0; --filtered: #c39a3b; --errored: #b3261e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #14181b; --panel: #1c2226; --line: #343c42; --words: #e6eaed; --dim: #9aa6af;
    --accent: #5cc3cf; --good: #6fd094; --bad: #ff8a80; --open: #e9b95a;
    --good-ground: #16291d; --bad-ground: #341a18; --open-ground: #2e2513;
    --processed: #3da3b0; --filtered: #b08a34; --errored: #e0645b;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--words);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 980px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 22px; margin: 0 0 4px; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 40px 0 4px; padding-top: 12px; border-top: 2px solid var(--words); }
h2 + p.dim { margin-top: 0; }
h3 { font-size: 15px; margin: 28px 0 8px; }
h4 { font-size: 13px; margin: 20px 0 8px; }
p { margin: 8px 0; max-width: 75ch; }
a { color: var(--accent); }
code, pre { font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { overflow-wrap: anywhere; }
pre {
  background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: 12px; margin: 8px 0;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.dim, .absent { color: var(--dim); }
.absent { border-left: 3px solid var(--line); padding-left: 12px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 8px 0; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; }
td code, td.long { overflow-wrap: anywhere; }
td .mark { white-space: nowrap; }
td ul { margin: 0; padding-left: 14px; }
#principles td:nth-child(-n+2) { width: 24%; }
#principles td:last-child { width: 15%; }
#principles td:last-child .mark { white-space: normal; }
th { color: var(--dim); font-weight: 600; font-size: 12px; }
th:first-letter { text-transform: uppercase; }
dl { display: grid; grid-template-columns: minmax(130px, 22%) 1fr; gap: 4px 16px; margin: 8px 0; }
dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
.mark { font-weight: 600; }
.mark.good { color: var(--good); }
.mark.bad { color: var(--bad); }
.mark.open { color: var(--open); }
.verdict { border: 1px solid; border-left-width: 8px; border-radius: 4px; padding: 12px 20px; margin: 20px 0 8px; }
.verdict.good { border-color: var(--good); background: var(--good-ground); }
.verdict.bad { border-color: var(--bad); background: var(--bad-ground); }
.verdict.open { border-color: var(--open); background: var(--open-ground); }
.verdict .mark { font-size: 18px; }
.verdict ul { margin: 8px 0 0; padding-left: 20px; }
.truth { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 12px 0 0; padding: 0; list-style: none; }
nav { margin: 16px 0 0; }
nav a { margin-right: 16px; }
figure { margin: 12px 0 20px; break-inside: avoid; }
figcaption { margin-bottom: 4px; }
svg { display: block; width: 100%; max-width: 720px; height: auto; }
svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: var(--words); }
svg text.number { font-size: 13px; font-weight: 600; }
svg text.dim { fill: var(--dim); }
svg text.end { text-anchor: end; }
svg .read { fill: var(--words); }
svg .processed { fill: var(--processed); }
svg .filtered { fill: var(--filtered); }
svg .errored { fill: var(--errored); }
svg .lost { fill: var(--bad); stroke: var(--bad); stroke-dasharray: 4 3; }
svg .band { fill-opacity: .45; stroke: none; }
svg .band.lost { fill-opacity: .18; stroke: var(--bad); }
ol.path { margin: 8px 0; padding-left: 28px; }
footer { margin-top: 48px; padding-top: 12px; border-top: 1px solid var(--line); color: var(--dim); font-size: 12px; }
@page { size: A4; margin: 18mm 16mm; }
@media print {
  body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  a { color: inherit; text-decoration: none; }
  h2, h3, h4 { break-after: avoid; }
  tr, pre, dl > *, .verdict { break-inside: avoid; }
  thead { display: table-header-group; }
  code, pre { font-size: 8.5pt; }
  table { font-size: 9.5pt; }
  .scroll { overflow: visible; }
}
"""
