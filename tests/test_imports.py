"""Data flows one way: a package imports only packages that stand above it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from common.paths import REPOSITORY

PACKAGE = REPOSITORY / "src" / "sign"
ORDER = [
    *("errors", "validation", "system", "graph", "datasets", "operators", "engines", "store", "diffusion"),
    *("runs", "published", "tracking", "models", "training", "config", "experiments", "report", "transforms"),
    *("testing", "search", "reproduction", "commands", "cli"),
]
MODULES = {
    ".".join(("sign", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in sorted(PACKAGE.rglob("*.py"))
}


def imported(module: str, source: str) -> set[str]:
    """The modules of ``sign`` that a module imports, in whatever form the import is written."""
    names = set()
    package = module if MODULES.get(module, Path()).name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            # `from sign.engines import powers` imports the module sign.engines.powers
            names |= {
                name if (name := f"{origin}.{alias.name}") in MODULES else origin for alias in node.names
            }
    return {name for name in names if name == "sign" or name.startswith("sign.")}


def misplaced(module: str, source: str) -> list[str]:
    """The imports that point to a package below the module's own."""
    own = module.split(".")[1]
    others = {name.split(".")[1]: name for name in imported(module, source) if "." in name}
    return [name for other, name in others.items() if ORDER.index(other) > ORDER.index(own)]


def test_every_package_has_its_place() -> None:
    found = {module.split(".")[1] for module in MODULES if module != "sign"}
    assert found == set(ORDER)


def test_few_files_stand_beside_the_packages() -> None:
    assert len(list(PACKAGE.glob("*.py"))) - 1 <= 8  # __init__.py is the map


@pytest.mark.parametrize("module", sorted(set(MODULES) - {"sign"}))
def test_imports_point_one_way(module: str) -> None:
    assert not misplaced(module, MODULES[module].read_text())


@pytest.mark.parametrize(
    "line",
    [
        "import sign.training.task",
        "import sign.training.task as task",
        "from sign.training.task import SIGNTask",
        "from sign.training import task",
        "from sign import training",
        "from ...training import task",
        "def f():\n    from sign.training import task",
    ],
)
def test_a_wrong_import_is_caught_in_any_form(line: str) -> None:
    assert misplaced("sign.engines.spark.engine", line)
    assert not misplaced("sign.experiments.run", line.replace("from ...training", "from ..training"))


# What the operators, engines and data sets of a package share; everything else there stands alone.
SHARED = {
    "datasets": {"base", "splits", "statistics", "download", "raw_files"},
    "datasets.synthetic": {"edge_kernels"},
    "operators": {"base", "chebyshev", "motif", "motif_counts", "ppr_push"},
    "engines": {"base", "powers", "local"},
}


def siblings(package: str, module: str, source: str) -> set[str]:
    """What a module of ``package`` imports of the modules beside it that are not shared."""
    prefix = f"sign.{package}."
    own = module.removeprefix(prefix).split(".")[0]
    heads = {
        name.removeprefix(prefix).split(".")[0]
        for name in imported(module, source)
        if name.startswith(prefix)
    }
    return heads - SHARED[package] - {own}


@pytest.mark.parametrize("package", SHARED)
def test_siblings_know_only_their_contract(package: str) -> None:
    """Adding an operator, engine or data set touches no other: none imports a sibling but shared ones."""
    for module, file in MODULES.items():
        if module.startswith(f"sign.{package}."):
            assert not siblings(package, module, file.read_text()), module


@pytest.mark.parametrize(
    "line",
    ["from sign.operators import heat", "from sign.operators.heat import HeatKernel", "from . import heat"],
)
def test_a_sibling_is_caught_in_any_form(line: str) -> None:
    assert siblings("operators", "sign.operators.ppr", line) == {"heat"}


def test_settings_are_checked_without_the_slow_libraries() -> None:
    code = (
        "import sys, sign.config.configure, sign.cli; print([m for m in ('torch', 'numba', 'scipy', 'wandb', "
    )
    code += "'pytorch_lightning', 'optuna', 'torch_geometric', 'ogb') if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert out.stdout.strip() == "[]"
