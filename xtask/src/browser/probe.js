'use strict';
// Runs after the page's own script. Every test adds to `problems`; the page around the frame hears the outcome.
const tables = [...document.querySelectorAll('table.sortable')];
if (tables.length < 5) problems.push(`only ${tables.length} tables`);
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
const figures = document.querySelectorAll('figure svg').length;
const sections = document.querySelectorAll('section[id^="fig"]').length;
if (figures === 0 || figures !== sections) problems.push(`${figures} figures in ${sections} sections`);
const outside = [...document.querySelectorAll('[src], link[href]')]
  .filter(e => !/^(data:|#)/.test(e.getAttribute('src') || e.getAttribute('href')));
if (outside.length) problems.push(`${outside.length} references to other files`);
for (const link of document.querySelectorAll('a[href^="#"]')) {
  if (!document.getElementById(link.getAttribute('href').slice(1))) problems.push(`dead link ${link.hash}`);
}
parent.postMessage(problems.length
  ? 'FAILED: ' + problems.join('; ')
  : `PASSED at ${width} pixels: ${tables.length} tables, ${clicks} sorts, ${figures} figures`, '*');
