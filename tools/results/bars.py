"""Bar charts as SVG that is readable on light and on dark backgrounds, and the same for the same numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

LEFT, PANEL, GAP, ROW, TOP = 130, 200, 24, 24, 46
STYLE = """\
text{font-family:ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;font-size:13px;fill:#24292f}
.title{font-weight:600}.note{font-size:11px;fill:#57606a}.value{font-size:12px;fill:#57606a}
.ours{fill:#d95f02}.other{fill:#8c959f}.axis{stroke:#d0d7de}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.note,.value{fill:#9198a1}.ours{fill:#f0883e}.other{fill:#656c76}
.axis{stroke:#3d444d}}"""


@dataclass(frozen=True)
class Panel:
    """A title, a note below it, and one value per label; None where there is no number."""

    title: str
    note: str
    values: dict[str, float | None]


def number(value: float) -> str:
    """Return a value with three significant digits.

    >>> [number(value) for value in (0.01234, 1.5, 123.4, 12_345)]
    ['0.0123', '1.50', '123', '12,345']
    """
    if value >= 100:
        return f"{value:,.0f}"
    decimals = 2 - int(f"{value:e}".split("e")[1])
    return f"{value:.{decimals}f}"


def picture(description: str, panels: Sequence[Panel], ours: str) -> str:
    """Return an SVG with panels side by side; bars start at zero, and labels that begin with ``ours`` are coloured."""
    labels = list(panels[0].values)
    width = LEFT + len(panels) * (PANEL + GAP)
    height = TOP + ROW * len(labels) + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(description)}">',
        f"<style>{STYLE}</style>",
    ]
    for row, label in enumerate(labels):
        lines.append(f'<text x="{LEFT - 12}" y="{_middle(row) + 4}" text-anchor="end">{escape(label)}</text>')
    for index, panel in enumerate(panels):
        lines += _panel(panel, LEFT + index * (PANEL + GAP), ours)
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel, left: int, ours: str) -> list[str]:
    lines = [
        f'<text x="{left}" y="16" class="title">{escape(panel.title)}</text>',
        f'<text x="{left}" y="33" class="note">{escape(panel.note)}</text>',
        f'<line x1="{left}" y1="{TOP - 2}" x2="{left}" y2="{TOP + ROW * len(panel.values)}" class="axis"/>',
    ]
    largest = max(value for value in panel.values.values() if value is not None)
    for row, (label, value) in enumerate(panel.values.items()):
        y = _middle(row)
        if value is None:
            lines.append(f'<text x="{left + 6}" y="{y + 4}" class="value">—</text>')
            continue
        length = (PANEL - 56) * value / largest
        kind = "ours" if label.startswith(ours) else "other"
        lines.append(f'<rect x="{left}" y="{y - 8}" width="{length:.1f}" height="16" class="{kind}"/>')
        lines.append(f'<text x="{left + length + 6:.1f}" y="{y + 4}" class="value">{number(value)}</text>')
    return lines


def _middle(row: int) -> int:
    return TOP + ROW * row + ROW // 2
