'use strict';
// Runs after the page's own script. Every test adds to `problems`; the page around the frame hears the outcome.
const tables = [...document.querySelectorAll('table.sortable')];
let clicks = 0;
for (const table of tables) {
  const before = table.tBodies[0].rows.length;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    for (const sign of [1, -1]) {
      head.querySelector('button').click();
      clicks += 1;
      const cells = [...table.tBodies[0].rows].map(row => row.cells[column]);
      const numbers = cells.filter(cell => 'v' in cell.dataset).map(cell => Number(cell.dataset.v));
      const finite = numbers.filter(Number.isFinite);
      const sorted = finite.every((v, i) => i === 0 || sign * (v - finite[i - 1]) >= 0);
      if (numbers.length === cells.length && !sorted) {
        problems.push(`not sorted: ${table.caption.textContent}, ${head.textContent}`);
      }
    }
  });
  if (table.tBodies[0].rows.length !== before) problems.push('rows were lost');
}
const width = document.documentElement.clientWidth;
const overflow = document.documentElement.scrollWidth - width;
if (overflow > 0) problems.push(`${overflow} pixels too wide for ${width}`);
const figures = document.querySelectorAll('figure').length;
if (figures < leastFigures) problems.push(`only ${figures} figures`);
// Every panel is drawn, and none is cut: neither by the page nor by its own frame.
for (const panel of document.querySelectorAll('figure .grid svg')) {
  const box = panel.getBoundingClientRect();
  if (box.width < 200 || box.right > width) problems.push(`a panel from ${box.left} to ${box.right}`);
  const drawn = panel.getBBox(), frame = panel.viewBox.baseVal;
  if (drawn.x < -1 || drawn.x + drawn.width > frame.width + 1) problems.push('a panel that is cut');
}
for (const entry of document.querySelectorAll('.legend span')) {
  const box = entry.getBoundingClientRect();
  if (box.right > width) problems.push(`the legend "${entry.textContent}" is cut`);
}
const outside = [...document.querySelectorAll('[src], link[href]')]
  .filter(e => !/^(data:|#)/.test(e.getAttribute('src') || e.getAttribute('href')));
if (outside.length) problems.push(`${outside.length} references to other files`);
for (const link of document.querySelectorAll('a[href^="#"]')) {
  if (!document.getElementById(link.getAttribute('href').slice(1))) problems.push(`dead link ${link.hash}`);
}
parent.postMessage(problems.length
  ? 'FAILED: ' + problems.join('; ')
  : `PASSED at ${width} pixels: ${tables.length} tables, ${clicks} sorts, ${figures} figures`, '*');
