/**
 * The look of the views. Colours come from the host's theme where it has one; those of dependences are the palette of
 * the static pictures, with lighter twins on dark themes, and never the only sign.
 */
export const STYLE = `
.polyviz {
  --pv-ink: var(--jp-ui-font-color1, var(--vscode-foreground, #1b1b1b));
  --pv-muted: var(--jp-ui-font-color2, var(--vscode-descriptionForeground, #5c5c5c));
  --pv-paper: var(--jp-layout-color1, var(--vscode-editor-background, #ffffff));
  --pv-raised: var(--jp-layout-color2, var(--vscode-editorWidget-background, #f2f2f2));
  --pv-border: var(--jp-border-color1, var(--vscode-widget-border, #c4c4c4));
  --pv-flow: #0072B2; --pv-anti: #D55E00; --pv-output: #00795a; --pv-reduction: #AA4499; --pv-other: #5c5c5c;
  --pv-violation: #c00028; --pv-lit: #fff3c4; --pv-lit-edge: #8a6100; --pv-hull: #eef4fa; --pv-now: #E69F00;
  --pv-plain: #8a8a8a; --pv-there: #cfe3f2; --pv-gone: #fbe3d6; --pv-new: #dff3ea;
  color: var(--pv-ink); background: var(--pv-paper); font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
  padding: 8px; box-sizing: border-box; container-type: inline-size;
}
body[data-jp-theme-light="false"] .polyviz, body.vscode-dark .polyviz, .polyviz-dark .polyviz {
  --pv-flow: #56B4E9; --pv-anti: #ff9a4d; --pv-output: #3fd0a4; --pv-reduction: #dd8fcf; --pv-other: #bdbdbd;
  --pv-violation: #ff7a8a; --pv-lit: #4f4312; --pv-lit-edge: #f0c95c; --pv-hull: #22303c;
  --pv-there: #2b4a5f; --pv-gone: #4f2f1c; --pv-new: #1c4034;
}
.polyviz *, .polyviz *::before { box-sizing: border-box; }
.polyviz p { margin: 3px 0; }
.polyviz ul, .polyviz ol { margin: 2px 0; padding-inline-start: 20px; }
.polyviz code, .polyviz pre { font-family: var(--jp-code-font-family, monospace); font-size: 12px; background: none; color: inherit; padding: 0; }
.polyviz [hidden] { display: none; }
.polyviz-name { font-size: 15px; font-weight: 600; }
.polyviz-heading, .polyviz-word { font-weight: 600; }
.polyviz-muted, .polyviz-caption { color: var(--pv-muted); }
.polyviz-columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; }
.polyviz-saves { margin-inline-start: auto; white-space: nowrap; }
.polyviz-memory { max-height: 340px; overflow: auto; }
@container (min-width: 820px) {
  .polyviz-columns { grid-template-columns: minmax(300px, 4fr) minmax(0, 5fr); }
}
.polyviz-section { border: 1px solid var(--pv-border); border-radius: 4px; padding: 6px 8px; margin-bottom: 10px; }
.polyviz-row, .polyviz-filter { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; }
.polyviz-filter { border: 0; margin: 2px 0; padding: 0; min-width: 0; }
.polyviz-filter legend { float: left; font-weight: 600; padding: 0; margin-inline-end: 10px; }
.polyviz label { display: inline-flex; gap: 5px; align-items: center; }
.polyviz input[type=range] { width: 110px; accent-color: var(--pv-flow); }
.polyviz input.polyviz-wide { flex: 1 1 140px; min-width: 100px; }
.polyviz button, .polyviz select {
  font: inherit; color: var(--pv-ink); background: var(--pv-raised); border: 1px solid var(--pv-muted); border-radius: 3px;
  padding: 2px 9px; min-height: 24px; cursor: pointer;
}
.polyviz select { padding-inline: 3px; }
.polyviz button:disabled { opacity: 0.55; cursor: default; }
.polyviz button.polyviz-small { padding: 0 5px; margin-inline-start: 8px; font-size: 12px; }
.polyviz .polyviz-node > button.polyviz-small { margin-inline-start: 2px; }
.polyviz button.polyviz-link { border: 0; background: none; padding: 0; text-align: start; text-decoration: underline dotted; }
.polyviz .polyviz-kind { font-weight: 400; color: var(--pv-muted); }
.polyviz-why li { margin: 3px 0; } .polyviz .polyviz-why button.polyviz-small { margin-inline-start: 0; min-height: 0; line-height: 1.35; }
.polyviz :focus-visible, .polyviz [role=treeitem]:focus-visible > .polyviz-node { outline: 2px solid var(--pv-flow); outline-offset: 1px; }
.polyviz [role=treeitem]:focus-visible { outline: none; }
.polyviz-status { background: var(--pv-raised); border-inline-start: 4px solid var(--pv-flow); padding: 3px 10px; margin: 6px 0; min-height: 30px; box-shadow: 0 1px 0 var(--pv-border); }
@media (min-height: 500px) {
  .polyviz-status { position: sticky; top: 0; z-index: 3; max-height: 30vh; overflow: auto; }
  /* A kernel may die while somebody looks at what is far down. */
  .polyviz-reconnect { position: sticky; top: 0; z-index: 4; }
  .polyviz-reconnect ~ .polyviz-status { top: 34px; }
  .polyviz-columns button, .polyviz-columns [tabindex], .polyviz-columns input { scroll-margin-top: 100px; }
  .polyviz-folding, .polyviz-folding summary, .polyviz-folding section { scroll-margin-top: 60px; }
  /* A short left column would leave nothing beside the cache: the program comes along, and lights with its steps. */
  .polyviz-columns > :first-child > :last-child { position: sticky; top: 40px; }
  .jp-Cell:not(.jp-mod-outputsScrolled) :is(.jp-OutputArea, .jp-OutputArea-child, .jp-OutputArea-output):has(.polyviz-status) { overflow: clip; }
}
.polyviz-busy:empty, .polyviz-problem:empty { display: none; }
.polyviz-problem { color: var(--pv-violation); font-weight: 600; }
.polyviz-lines { max-height: 440px; overflow: auto; position: relative; }
.polyviz-line { display: flex; align-items: baseline; gap: 10px; white-space: pre-wrap; cursor: pointer; padding-inline-end: 6px; border-inline-start: 3px solid transparent; }
.polyviz-line > code { min-width: 0; overflow-wrap: anywhere; } .polyviz-remark { display: inline-block; white-space: pre; text-indent: 0; }
.polyviz-number { color: var(--pv-muted); min-width: 2.4em; flex: none; text-align: end; font: 11px/1.7 var(--jp-code-font-family, monospace); }
.polyviz [aria-selected=true] > .polyviz-node, .polyviz tr[aria-selected=true], .polyviz-line[aria-selected=true] {
  background: var(--pv-lit); border-inline-start-color: var(--pv-lit-edge); --pv-muted: var(--pv-ink);
}
.polyviz-tree { max-height: 460px; overflow: auto; }
.polyviz-tree:has(.polyviz-menu) { max-height: none; }
.polyviz .polyviz-tree, .polyviz-tree ul { list-style: none; margin: 0; padding-inline-start: 0; }
.polyviz-tree ul { padding-inline-start: 8px; border-inline-start: 1px solid var(--pv-border); margin-inline-start: 6px; }
.polyviz-node { display: inline-flex; flex-wrap: wrap; gap: 2px 4px; align-items: center; padding: 1px 4px; border-radius: 3px; border-inline-start: 3px solid transparent; cursor: pointer; }
.polyviz-badge { border: 1px solid var(--pv-muted); border-radius: 8px; padding: 0 4px; font-size: 11px; white-space: nowrap; }
.polyviz-badge-in-order { border-color: var(--pv-border); color: var(--pv-muted); }
.polyviz-badge-could-be-parallel { border-style: dashed; border-color: var(--pv-output); color: var(--pv-output); }
.polyviz-badge-parallel { border-color: var(--pv-output); color: var(--pv-output); }
.polyviz-badge-parallel-reduction { border-color: var(--pv-reduction); color: var(--pv-reduction); }
.polyviz-menu { border: 1px solid var(--pv-muted); background: var(--pv-raised); border-radius: 4px; padding: 6px 8px; margin: 4px 0; display: grid; gap: 4px; justify-items: start; }
.polyviz-numbers { width: 7em; font: inherit; font-size: 12px; }
.polyviz-offers { display: flex; flex-wrap: wrap; gap: 4px; }
.polyviz button.polyviz-move { font-size: 12px; text-align: start; padding: 1px 7px; background: var(--pv-paper); }
/* Effects are written anew when they are known: a press that began on one would lose its click. */
.polyviz-effect { margin-inline-start: 3px; color: var(--pv-muted); font-size: 11px; pointer-events: none; }
.polyviz-effect:is(.polyviz-better, .polyviz-worse) { white-space: nowrap; }
.polyviz-effect.polyviz-better { color: var(--pv-output); } .polyviz-effect.polyviz-worse { color: var(--pv-anti); }
.polyviz button.polyviz-illegal { color: var(--pv-muted); text-decoration: line-through; border-style: dashed; }
.polyviz-reason:empty { display: none; }
.polyviz-reason { border-inline-start: 3px solid var(--pv-violation); padding-inline-start: 8px; }
.polyviz-scroll { overflow-x: auto; max-height: 460px; overflow-y: auto; }
/* An edge behind which there is more is dark: not every system shows bars before somebody scrolls. */
.polyviz :is(.polyviz-scroll, .polyviz-lines, .polyviz-tree, .polyviz-memory, pre.polyviz-script) {
  background: linear-gradient(var(--pv-under, var(--pv-paper)) 60%, transparent) top / 100% 20px no-repeat local,
    linear-gradient(transparent, var(--pv-under, var(--pv-paper)) 40%) bottom / 100% 20px no-repeat local,
    linear-gradient(var(--pv-plain), transparent) top / 100% 7px no-repeat,
    linear-gradient(transparent, var(--pv-plain)) bottom / 100% 7px no-repeat, var(--pv-under, var(--pv-paper));
}
.polyviz table.polyviz-table { border-collapse: collapse; font-size: 12px; width: auto; margin: 2px 0; color: inherit; table-layout: auto; }
.polyviz-table th, .polyviz-table td { text-align: start; padding: 2px 10px 2px 4px; border-bottom: 1px solid var(--pv-border); vertical-align: top; max-width: none; white-space: normal; }
.polyviz-filter input[type=range] { width: 84px; }
[aria-label=Dependences] table.polyviz-table th, [aria-label=Dependences] table.polyviz-table td { padding: 2px 5px 2px 3px; }
.polyviz-whole, [aria-label=Dependences] td:first-child { white-space: nowrap; }
.polyviz-table tbody tr { background: none; cursor: pointer; }
.polyviz-table td svg { vertical-align: middle; }
.polyviz pre.polyviz-script { --pv-under: var(--pv-raised); padding: 6px; overflow: auto; max-height: 340px; }
/* Begins at its end, where the last moves are. */
.polyviz pre.polyviz-script { display: flex; flex-direction: column-reverse; }
.polyviz-differs { color: var(--pv-anti); font-weight: 700; }
.polyviz-row > .polyviz-full { flex-basis: 100%; }
.polyviz-row > .polyviz-caption { min-width: 8em; }
.polyviz-undone { opacity: 0.6; }
.polyviz-folding { margin: 4px 0; }
.polyviz-folding summary { font-weight: 600; cursor: pointer; }
.polyviz-card { border: 1px solid var(--pv-border); border-inline-start: 4px solid var(--pv-anti); padding: 6px 12px; }
.polyviz-picture { max-width: 100%; height: auto; display: block; }
.polyviz-picture text { fill: var(--pv-ink); font-size: 12px; }
.polyviz-picture text.polyviz-title { font-weight: 600; }
.polyviz-picture text.polyviz-tick { fill: var(--pv-muted); font-size: 10px; text-anchor: middle; }
.polyviz-picture text.polyviz-axis { font-family: var(--jp-code-font-family, monospace); font-style: italic; stroke: var(--pv-paper); stroke-width: 3; paint-order: stroke; pointer-events: none; }
.polyviz-stack { position: relative; max-width: 100%; }
.polyviz-stack > .polyviz-picture { position: relative; width: 100%; }
.polyviz-cloud { position: absolute; inset: 0; width: 100%; height: 100%; }
.polyviz-stack .polyviz-hull { fill-opacity: 0.35; }
.polyviz-hull { fill: var(--pv-hull); stroke: var(--pv-hull); stroke-linejoin: round; }
.polyviz-tile { fill: var(--pv-flow); fill-opacity: 0.1; stroke: var(--pv-muted); stroke-width: 1; stroke-linejoin: round; }
.polyviz-tile.polyviz-odd { fill: var(--pv-now); fill-opacity: 0.2; }
.polyviz-picture text.polyviz-lane { fill: var(--pv-muted); font-size: 10px; text-anchor: end; }
.polyviz-point { fill: var(--pv-ink); stroke: var(--pv-paper); stroke-width: 0.5; cursor: pointer; }
.polyviz-point.polyviz-worker { fill: var(--pv-block); } .polyviz-strength-1 { fill-opacity: 0.72; } .polyviz-strength-2 { fill-opacity: 0.5; } .polyviz-strength-3 { fill-opacity: 0.3; }
.polyviz-point.polyviz-past { fill: var(--pv-muted); fill-opacity: 0.45; }
.polyviz-point.polyviz-dim { fill-opacity: 0.3; }
.polyviz-point.polyviz-lit { stroke: var(--pv-lit-edge); stroke-width: 2.5; fill-opacity: 1; }
.polyviz-point.polyviz-same { stroke: var(--pv-ink); stroke-width: 2.5; stroke-dasharray: 2.5 1.5; fill-opacity: 1; }
.polyviz-point.polyviz-now { fill: var(--pv-now); stroke: var(--pv-ink); stroke-width: 2; fill-opacity: 1; }
.polyviz-point.polyviz-cursor { stroke: var(--pv-flow); stroke-width: 4; }
.polyviz-arrow { fill: none; stroke: var(--pv-other); stroke-width: 1.3; pointer-events: none; }
.polyviz-flow { stroke: var(--pv-flow); } .polyviz-anti { stroke: var(--pv-anti); } .polyviz-output { stroke: var(--pv-output); }
.polyviz-reduction { stroke: var(--pv-reduction); } .polyviz-input { stroke: var(--pv-other); } .polyviz-violation { stroke: var(--pv-violation); stroke-width: 3; }
.polyviz-arrow.polyviz-inner { stroke: var(--pv-paper); stroke-width: 1.6; }
.polyviz-head { stroke: none; fill: var(--pv-other); pointer-events: none; }
.polyviz-head.polyviz-flow { fill: var(--pv-flow); } .polyviz-head.polyviz-anti { fill: var(--pv-anti); }
.polyviz-head.polyviz-output { fill: var(--pv-output); } .polyviz-head.polyviz-reduction { fill: var(--pv-reduction); } .polyviz-head.polyviz-reduction { fill: var(--pv-reduction); }
.polyviz-head.polyviz-violation { fill: var(--pv-violation); }
.polyviz-ring { fill: none; stroke: var(--pv-violation); stroke-width: 2.5; }
.polyviz-arrows.polyviz-dim > * { opacity: 0.2; }
.polyviz-arrows.polyviz-lit > .polyviz-arrow { stroke-width: 2.2; }
.polyviz-hidden { display: none; }
.polyviz-cacheline { fill: var(--pv-paper); stroke: var(--pv-border); stroke-width: 0.8; }
.polyviz-cacheline.polyviz-there { fill: var(--pv-there); stroke: var(--pv-flow); }
.polyviz-cacheline.polyviz-hit { fill: var(--pv-flow); stroke: var(--pv-ink); stroke-width: 1.6; }
.polyviz-cacheline.polyviz-first { fill: var(--pv-now); stroke: var(--pv-ink); stroke-width: 1.6; }
.polyviz-cacheline.polyviz-again { fill: var(--pv-violation); stroke: var(--pv-ink); stroke-width: 2; stroke-dasharray: 3 2; }
.polyviz-key { display: inline-flex; gap: 4px; align-items: center; font-size: 12px; color: var(--pv-muted); }
.polyviz-cache-step { min-height: 2.9em; }
.polyviz-table td.polyviz-figure { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.polyviz-table tr[aria-current=true] { background: var(--pv-raised); font-weight: 600; }
.polyviz-side { overflow-x: auto; } .polyviz-side th:first-child { width: 30%; }
.polyviz-meaning { display: block; font-weight: 400; font-size: 11px; color: var(--pv-muted); }
.polyviz-difference { max-height: 360px; font-size: 12px; }
.polyviz-difference .polyviz-line { cursor: auto; }
.polyviz-reconnect { background: var(--pv-raised); border: 1px dashed var(--pv-muted); border-radius: 4px; padding: 4px 8px; margin-bottom: 6px; }
.polyviz .polyviz-sessions { list-style: none; padding: 0; }
.polyviz button.polyviz-session { width: 100%; text-align: start; padding: 4px 8px; margin-bottom: 4px; font-weight: 600; }
.polyviz button.polyviz-session[aria-current=true] { border-inline-start: 4px solid var(--pv-flow); background: var(--pv-lit); }
.polyviz-panel { overflow: auto; background: var(--jp-layout-color1, white); }
.polyviz-sign { min-width: 1em; font-weight: 700; }
.polyviz-gone { background: var(--pv-gone); } .polyviz-new { background: var(--pv-new); }
.polyviz-verified-yes { border-color: var(--pv-output); color: var(--pv-output); }
.polyviz-verified-no { border-color: var(--pv-violation); color: var(--pv-violation); font-weight: 700; }
.polyviz-pair { display: grid; gap: 8px 20px; grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); }
.polyviz-block { fill: var(--pv-raised); stroke: var(--pv-muted); } .polyviz-block.polyviz-chosen { fill: var(--pv-there); stroke: var(--pv-flow); stroke-width: 2; }
.polyviz-thread { fill: var(--pv-flow); } .polyviz-thread.polyviz-odd { fill: var(--pv-now); }
.polyviz-zoom { stroke: var(--pv-muted); stroke-dasharray: 3 2; }
.polyviz-bank { fill: var(--pv-flow); } .polyviz-bank.polyviz-conflict { fill: var(--pv-anti); stroke: var(--pv-ink); stroke-width: 0.6; }
.polyviz-banks { display: block; min-width: 165px; } .polyviz-banks svg { display: block; }
.polyviz-chart { max-width: 860px; margin: 4px 0; } .polyviz-plotly { min-height: 40px; }
.polyviz-dot { fill: var(--pv-flow); } .polyviz-dot.polyviz-best { fill: var(--pv-output); }
.polyviz-thread-dot { fill: none; stroke-linecap: round; } .polyviz-thread-ring { fill: none; stroke: var(--pv-ink); stroke-width: 1.4; } .polyviz-thread-border { fill: none; stroke: var(--pv-muted); stroke-width: 0.8; } .polyviz-thread-outline { fill: none; stroke: var(--pv-ink); stroke-width: 2; }
.polyviz-block-0 { --pv-block: var(--pv-flow); } .polyviz-block-1 { --pv-block: var(--pv-anti); } .polyviz-block-2 { --pv-block: var(--pv-output); }
.polyviz-block-3 { --pv-block: var(--pv-reduction); } .polyviz-block-4 { --pv-block: #7d8b00; } .polyviz-thread-dot { stroke: var(--pv-block); }
.polyviz-run { fill: var(--pv-block); fill-opacity: 0.12; stroke: var(--pv-block); stroke-width: 1.8; stroke-linejoin: round; }
.polyviz-picture text.polyviz-block-name { font-size: 9.5px; text-anchor: middle; stroke: var(--pv-paper); stroke-width: 3; paint-order: stroke; pointer-events: none; } .polyviz-picture text.polyviz-thread-name { fill: var(--pv-muted); font-size: 8px; pointer-events: none; }
.polyviz-picture:focus:not(:focus-visible) { outline: none; }
.polyviz-edge { stroke: var(--pv-flow); stroke-opacity: 0.6; pointer-events: none; } .polyviz-edge.polyviz-far { stroke-opacity: 0.4; stroke-dasharray: 3 3; }
.polyviz-turnable { touch-action: none; cursor: grab; } .polyviz-turnable:active { cursor: grabbing; } .polyviz-turnable button { margin: 0; }
.polyviz-threads .polyviz-scroll { max-height: 600px; } .polyviz-threads .polyviz-picture { max-width: none; } .polyviz-pickable { cursor: crosshair; } .polyviz-thread-sentence { min-height: 1.5em; }
.polyviz-kernel .polyviz-scroll { max-height: none; }
.polyviz-kernel { border-inline-start: 3px solid var(--pv-border); padding-inline-start: 10px; margin: 8px 0; }
.polyviz-table caption { text-align: start; caption-side: top; padding: 4px 0 0 4px; color: var(--pv-ink); }
.polyviz-bar { fill: var(--pv-flow); } .polyviz-whisker { stroke: var(--pv-ink); fill: none; stroke-width: 1.4; }
@media (prefers-reduced-motion: no-preference) { .polyviz-point { transition: fill-opacity 80ms, stroke-width 80ms; } }
@media (forced-colors: active) { .polyviz-line, .polyviz-node { border-inline-start-color: Canvas; } .polyviz [aria-selected=true] > .polyviz-node, .polyviz-line[aria-selected=true] { outline: 2px solid Highlight; } }
`;
