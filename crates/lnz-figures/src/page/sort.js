'use strict';
// Heads of sortable tables become buttons: first rising, then falling.
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const cell = row.cells[column];
    return 'v' in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  };
  const compare = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') {
      return (Number.isNaN(a) ? Infinity : a) - (Number.isNaN(b) ? Infinity : b) || 0;
    }
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const falling = head.getAttribute('aria-sort') === 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
      const rows = [...body.rows];
      rows.sort((a, b) => (falling ? -1 : 1) * compare(value(a, column), value(b, column)));
      body.append(...rows);
    });
  });
}
