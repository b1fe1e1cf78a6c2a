"""The paper's table of layers that SIGN contains, as a comparison of outputs."""

from rich.table import Table as Shown

from sign.config.configure import compose, configure
from sign.errors import SignError
from sign.reproduction.request import Request
from sign.system.atomic_files import write_json, write_text
from sign.system.console import console

TOLERANCE = 1e-4  # of the size of the outputs


def reductions(request: Request) -> None:
    """The layers that SIGN contains beside PyG's: the largest difference of their outputs on Cora."""
    from sign.reproduction.pyg_layers import PLAIN, REDUCTIONS

    shown = Shown(title="SIGN's special cases and PyG's layers, equal weights, Cora", title_justify="left")
    columns = ("layer", "largest difference", "largest output", "equal")
    for column in columns:
        shown.add_column(column, justify="left" if column == "layer" else "right")
    rows = []
    folders = (f"paths.store_dir={request.store_dir}", f"paths.output_dir={request.output_dir}")
    for name, (words, outputs) in REDUCTIONS.items():
        ours, theirs = outputs(configure(compose("dataset=cora", *words, *PLAIN, *folders), []))
        difference, size = float((ours - theirs).abs().max()), float(theirs.abs().max())
        rows.append(
            {"layer": name, "difference": difference, "size": size, "equal": difference <= TOLERANCE * size}
        )
        shown.add_row(name, f"{difference:.1e}", f"{size:.2f}", "yes" if rows[-1]["equal"] else "NO")
    console.print(shown)
    request.folder.mkdir(parents=True, exist_ok=True)
    write_json(request.folder / "reductions.json", {"rows": rows, "tolerance": TOLERANCE})
    lines = ["| layer | largest difference | largest output |", "| --- | --- | --- |"]
    lines += [f"| {row['layer']} | {row['difference']:.1e} | {row['size']:.2f} |" for row in rows]
    write_text(
        request.folder / "reductions.md",
        "\n".join(["## Special cases of SIGN and PyG's layers", "", *lines, ""]),
    )
    if wrong := [str(row["layer"]) for row in rows if not row["equal"]]:
        raise SignError(
            f"{', '.join(wrong)}: outputs differ from PyG's by more than {TOLERANCE:g} of their size"
        )
