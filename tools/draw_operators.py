"""Draw what each operator does on a small graph: ``python tools/draw_operators.py`` writes docs/images/operators.svg.

One node of a small graph is chosen, and every node is filled by its weight in that node's row of B: how much its
features contribute to the result. The operators are those of ``conf/operator``, but for ``NOT_DRAWN``.
"""

import sys
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from omegaconf import OmegaConf

from sign.config.instantiate import instantiate_section
from sign.graph.csr import Array
from sign.operators.base import Operator
from sign.system.program import CONF
from sign.testing import graph_of, product

FILE = Path(__file__).parents[1] / "docs" / "images" / "operators.svg"
# The chosen node is in a clique of four nodes, a triangle and a four-cycle; a tail follows. Directed edges as listed.
EDGES = [(1, 0), (0, 2), (3, 0), (1, 2), (2, 3), (3, 1), (2, 4), (4, 5), (5, 2), (2, 6), (6, 7), (7, 5), (7, 8)]
PLACES = [(20, 20), (20, 80), (84, 50), (62, 100), (120, 14), (156, 44), (116, 96), (172, 94), (214, 76)]
CHOSEN = 2
TITLES = {
    "adjacency": "adjacency (p)",
    "ppr": "personalised PageRank (s)",
    "triangle": "triangles (t)",
    "directed": "along the direction (d)",
    "directed_transposed": "against the direction (f)",
    "laplacian": "Laplacian",
    "heat": "heat kernel",
    "clique": "cliques of four",
    "four_cycle": "four-cycles",
    "non_backtracking": "walks that never turn back",
}
NOT_DRAWN = {
    "attention": "its weights are learned from labels",
    "gaussian": "edges of the graph have no features",
    "temporal": "edges of the graph have no times",
    "chebyshev": "its first power is the matrix that it is a polynomial of",
    "jacobi": "its first power is the matrix that it is a polynomial of",
    "monomial": "its first power is the matrix that it is a polynomial of",
}
WIDTH, HEIGHT, COLUMNS = 240, 142, 3
# Readable on light and dark backgrounds, because the picture cannot know which one it is on.
GREY, BLUE, RED = "#7d8590", "#1f6feb", "#d1495b"


def weights_of(name: str) -> Array:
    """Return the row of the chosen node in the matrix B of an operator of ``conf/operator``."""
    cfg = OmegaConf.create({"operator": OmegaConf.load(CONF / "operator" / f"{name}.yaml")})
    operator = instantiate_section(cfg, "operator", Operator).resolve(inductive=False)
    directed = name.startswith("directed")
    graph = graph_of(EDGES, len(PLACES), directed=directed)
    identity = np.eye(graph.nodes, dtype=np.float32)
    row: Array = operator.apply(operator.matrix(graph), identity, product)[CHOSEN]
    return row


def panel(name: str, x: int, y: int) -> list[str]:
    """Return the drawing of one operator."""
    lines = [f'<g transform="translate({x},{y})">', f'<text x="12" y="16" class="title">{escape(TITLES[name])}</text>']
    directed = name.startswith("directed")
    lines += ['<g transform="translate(6,24)">']
    for source, target in EDGES:
        (x1, y1), (x2, y2) = PLACES[source], PLACES[target]
        arrow = ' marker-end="url(#arrow)"' if directed else ""
        lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="edge"{arrow}/>')
    weights = weights_of(name)
    largest = np.abs(weights).max()
    for node, ((cx, cy), weight) in enumerate(zip(PLACES, weights, strict=True)):
        colour = BLUE if weight >= 0 else RED
        share = abs(float(weight)) / largest
        ring = ' class="chosen"' if node == CHOSEN else ' class="node"'
        lines.append(f'<circle cx="{cx}" cy="{cy}" r="11" class="paper"/>')
        lines.append(f'<circle cx="{cx}" cy="{cy}" r="11" fill="{colour}" fill-opacity="{share:.2f}"{ring}/>')
        if abs(weight) >= 0.005:
            shown = f"{weight:.2f}".replace("0.", ".").replace("-", "−")
            tone = "#fff" if share > 0.6 else "#1f2328"
            lines.append(f'<text x="{cx}" y="{cy + 3}" class="weight" fill="{tone}">{shown}</text>')
    return [*lines, "</g>", "</g>"]


def picture() -> str:
    """Return the SVG with one panel per operator."""
    rows = -(-len(TITLES) // COLUMNS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * COLUMNS} {HEIGHT * rows}" role="img" '
        'font-family="system-ui, sans-serif">',
        "<title>Weights of one row of each operator on a small graph</title>",
        f"<style>.title{{font-size:12px;font-weight:600;fill:{GREY}}} .edge{{stroke:{GREY};stroke-width:1.2}} "
        f".paper{{fill:#fff}} .node{{stroke:{GREY};stroke-width:1}} .chosen{{stroke:#e3a008;stroke-width:3}} "
        ".weight{font-size:8.5px;text-anchor:middle}</style>",
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="25" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto">'
        f'<path d="M0 1L9 5L0 9z" fill="{GREY}"/></marker></defs>',
    ]
    for number, name in enumerate(TITLES):
        lines += panel(name, number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT)
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Write the picture."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(picture())
    sys.stdout.write(f"{FILE}\n")


if __name__ == "__main__":
    main()
