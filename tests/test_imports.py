"""Data flows one way: a module imports only what stands above it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "sign"
ORDER = [
    "errors",
    "files",
    "settings",
    "runs",
    "published",
    "places",
    "console",
    "locks",
    "memory",
    "report",
    "fingerprint",
    "windows",
    "downloads",
    "assembly",
    "inspection",
    "sparse",
    "renumbering",
    "features",
    "graph",
    "scaling",
    "problem",
    "testing",
    "reading",
    "datasets",
    "operators",
    "figures",
    "engines",
    "card",
    "transforms",
    "store",
    "filling",
    "diffusion",
    "inventory",
    "export",
    "datamodule",
    "network",
    "tally",
    "task",
    "callbacks",
    "exhibits",
    "company",
    "loggers",
    "workspace",
    "sections",
    "configuration",
    "requests",
    "checks",
    "fitting",
    "experiment",
    "series",
    "reductions",
    "reproduction",
    "search",
    "cli",
]


def imported(file: Path) -> set[str]:
    """The dotted names below ``sign`` that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sign":
            parts = node.module.split(".")[1:]
            names |= {".".join(parts)} if parts else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name[5:] for alias in node.names if alias.name.startswith("sign.")}
    return names


def test_every_module_has_its_place() -> None:
    found = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found - {"__init__"} == set(ORDER)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_one_way(file: Path) -> None:
    own = file.relative_to(PACKAGE).with_suffix("").parts[0]
    for name in imported(file):
        other = name.split(".")[0]
        if own != "__init__":
            assert ORDER.index(other) <= ORDER.index(own), f"{own} imports {other}, which stands below it"


@pytest.mark.parametrize("package", ["datasets", "operators", "engines"])
def test_siblings_know_only_their_contract(package: str) -> None:
    """Adding an operator, engine or data set touches no other: none imports a sibling but shared ones."""
    shared = {f"datasets.{name}" for name in ("dataset", "drawing", "published", "raw")}
    shared |= {"engines.engine", "engines.kernels", "engines.lanes"}
    shared |= {f"operators.{name}" for name in ("operator", "chebyshev", "counting", "motif", "push")}
    for file in (PACKAGE / package).glob("*.py"):
        siblings = {name for name in imported(file) if name.startswith(f"{package}.")}
        assert siblings <= shared, f"{file.name} imports {siblings - shared}"


def test_settings_are_checked_without_the_slow_libraries() -> None:
    code = (
        "import sys, sign.config.configure, sign.cli; print([m for m in ('torch', 'numba', 'scipy', 'wandb', "
    )
    code += "'pytorch_lightning', 'optuna', 'torch_geometric', 'ogb') if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert out.stdout.strip() == "[]"
