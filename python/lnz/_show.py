"""Results as text and as HTML for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

Line = tuple[str, str, str, str]
"""Label, tone, what stands out, and the rest."""


def as_text(lines: Sequence[Line]) -> str:
    width = max(len(label) for label, *_ in lines) + 2
    indent = " " * width
    return "\n".join(
        f"{label:<{width}}" + f"{lead}{text}".replace("\n", f"\n{indent}")
        for label, _, lead, text in lines
    )


def as_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells below each other; all but words to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    is_word = [cell[:1].isalpha() for cell in rows[-1]]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(row, widths, is_word)
        )
        return "  ".join(cells).rstrip()

    return [line(row) for row in rows]


def html_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for notebooks; numbers and everything else as text."""
    cell = "text-align:left;padding:1px 12px 1px 0"
    titles = "".join(f'<th style="{cell}">{html.escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{cell}">{html.escape(text)}</td>' for text in row) + "</tr>"
        for row in rows
    )
    caption = f'<caption style="text-align:left">{html.escape(caption)}</caption>'
    return f"<table>{caption}<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def html_history(caption: str, first: str, rows: Sequence[tuple[int, Any]]) -> str:
    """log Z and likelihoods along training, for notebooks; columns that nothing is in are left out."""

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}"

    cells = [
        (
            str(step),
            f"{record.log_z:.2f}",
            f"[{record.interval[0]:.2f}, {record.interval[1]:.2f}]",
            record.verdict,
            number(record.train_log_likelihood),
            number(record.validation_log_likelihood),
        )
        for step, record in rows
    ]
    head = (first, "log Z", "95% interval", "verdict", "train", "validation")
    kept = [k for k in range(len(head)) if any(row[k] for row in cells)]
    chosen = [[row[k] for k in kept] for row in cells]
    return html_table(caption, [head[k] for k in kept], chosen)


_COLOURS = {"good": "#1a7f37", "bad": "#c4520a", "value": "inherit", "plain": "inherit"}


def as_html(lines: Sequence[Line]) -> str:
    cell = "text-align:left;vertical-align:top;padding:1px 12px 1px 0;background:none;border:none"
    body = "".join(
        f'<tr style="background:none"><td style="{cell};opacity:.6">{html.escape(label)}</td>'
        f'<td style="{cell}"><b style="color:{_COLOURS[tone]}">{html.escape(lead)}</b>'
        f"{html.escape(text).replace(chr(10), '<br>')}</td></tr>"
        for label, tone, lead, text in lines
    )
    return f'<table style="border:none;border-collapse:collapse">{body}</table>'
