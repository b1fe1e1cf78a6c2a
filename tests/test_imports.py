"""Data flows one way: a package imports only packages that stand above it."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from common.paths import REPOSITORY

PACKAGE = REPOSITORY / "src" / "sign"
TESTS = REPOSITORY / "tests"
ORDER = [
    *("errors", "validation", "system", "graph", "datasets", "operators", "engines", "store", "diffusion"),
    *(
        "runs",
        "published",
        "tracking",
        "models",
        "training",
        "smoothing",
        "baselines",
        "config",
        "prediction",
        "experiments",
        "report",
        "transforms",
    ),
    *("testing", "estimator", "search", "reproduction", "commands", "cli"),
]
MODULES = {
    ".".join(("sign", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in sorted(PACKAGE.rglob("*.py"))
}


def imported(module: str, source: str) -> set[str]:
    """Return the modules of ``sign`` that a module imports, in whatever form the import is written.

    A name of the public API (``from sign import SIGN``) is returned as it is: it may lead anywhere.
    """
    names, bound = set(), set()
    package = module if MODULES.get(module, Path()).name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
            bound |= {alias.asname or "sign" for alias in node.names if alias.name.split(".")[0] == "sign"}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            names |= {f"{origin}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            names |= {argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)}
    for node in ast.walk(ast.parse(source)):  # `import sign`, then `sign.training.task`
        if isinstance(node, ast.Attribute) and (name := ast.unparse(node)).split(".")[0] in bound:
            names.add(f"sign.{name.partition('.')[2]}")
    return {_module(name) for name in names if name.startswith("sign.") and not name.startswith("sign.__")}


def _module(name: str) -> str:
    """Return the longest prefix of a dotted name that is a module below ``sign``, or the name itself."""
    parts = name.split(".")
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 1, -1))
    return next((prefix for prefix in prefixes if prefix in MODULES), name)


def misplaced(module: str, source: str) -> list[str]:
    """Return the imports that point to a package below the module's own, or to the public API."""
    position = {package: index for index, package in enumerate(ORDER)}
    own = position[module.split(".")[1]]
    return [name for name in imported(module, source) if position.get(name.split(".")[1], len(ORDER)) > own]


def test_every_package_is_in_the_import_order() -> None:
    found = {module.split(".")[1] for module in MODULES if module != "sign"}
    assert found == set(ORDER)


def test_few_files_stand_beside_the_packages() -> None:
    assert len([path for path in PACKAGE.iterdir() if path.is_file()]) <= 9  # __init__.py is the map, py.typed is empty


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
        "import sign\nsign.training.task.SIGNTask",
        "import sign as package\npackage.training.task.SIGNTask",
        "import importlib\nimportlib.import_module('sign.training.task')",
    ],
)
def test_a_wrong_import_is_caught_in_any_form(line: str) -> None:
    assert misplaced("sign.engines.spark.engine", line)
    assert not misplaced("sign.experiments.run", line.replace("from ...training", "from ..training"))


def test_modules_do_not_import_the_public_interface_of_the_package() -> None:
    assert misplaced("sign.experiments.run", "from sign import SIGN") == ["sign.SIGN"]
    assert not misplaced("sign.store.store", "import sign\nsign.__version__")


# What the operators, engines and data sets of a package share; everything else there stands alone.
SHARED = {
    "datasets": {
        "base",
        "statistics",
        "sampling",
        "download",
        "raw_files",
        "array_cache",
        "pack_checks",
        "exported_rows",
    },
    "datasets.synthetic": {"edge_kernels"},
    "operators": {
        "base",
        "chebyshev",
        "motif",
        "motif_counts",
        "ppr_push",
        "walk_ends",
        "attention_scores",
        "attention_training",
        "edge_learning",
        "gaussian_training",
        "neighbour_sampling",
        "temporal_counts",
    },
    "engines": {"base", "powers", "progress", "local"},
}


def siblings(package: str, module: str, source: str) -> set[str]:
    """What a module of ``package`` imports of the modules beside it that are not shared."""
    prefix = f"sign.{package}."
    own = module.removeprefix(prefix).split(".")[0]
    heads = {name.removeprefix(prefix).split(".")[0] for name in imported(module, source) if name.startswith(prefix)}
    return heads - SHARED[package] - {own}


@pytest.mark.parametrize("package", SHARED)
def test_siblings_know_only_their_contract(package: str) -> None:
    """Adding an operator, engine or data set touches no other: none imports a sibling but shared ones."""
    for module, file in MODULES.items():
        if module.startswith(f"sign.{package}."):
            assert not siblings(package, module, file.read_text()), module


@pytest.mark.parametrize(
    "line", ["from sign.operators import heat", "from sign.operators.heat import HeatKernel", "from . import heat"]
)
def test_a_sibling_is_caught_in_any_form(line: str) -> None:
    assert siblings("operators", "sign.operators.ppr", line) == {"heat"}


SLOW_LIBRARIES = ("torch", "numba", "scipy", "wandb", "pytorch_lightning", "optuna", "torch_geometric", "ogb")
EAGER = ("sign.config", "sign.commands", "sign.cli")


def test_commands_and_configuration_import_no_slow_library() -> None:
    modules = [module for module in MODULES if module.startswith(EAGER)]
    code = f"import sys, {', '.join(modules)}; print([m for m in {SLOW_LIBRARIES} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert out.stdout.strip() == "[]"


def imported_tests(source: str) -> set[str]:
    """Return the test files that a module imports: names with a part ``test_…`` or ``conftest``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module or ''}.{alias.name}" for alias in node.names}
    return {name for name in names if re.search(r"(^|\.)(test_|conftest\b)", name)}


@pytest.mark.parametrize(
    "line",
    [
        "import test_cli",
        "import engines.test_engines as suite",
        "from test_cli import x",
        "from . import test_cli",
        "from engines import test_engines",
        "from conftest import configured",
    ],
)
def test_a_test_that_imports_another_is_caught_in_any_form(line: str) -> None:
    assert imported_tests(line)


def test_test_files_share_helpers_without_importing_each_other() -> None:
    found = {str(file.relative_to(TESTS)): imported_tests(file.read_text()) for file in TESTS.rglob("*.py")}
    assert not {file: names for file, names in found.items() if names}


def test_tests_mirror_the_packages() -> None:
    packages = {module for module, file in MODULES.items() if file.name == "__init__.py" and module != "sign"}
    tested = {".".join(("sign", *file.parent.relative_to(TESTS).parts)) for file in TESTS.rglob("test_*.py")}
    tested -= {"sign", "sign.tools"}  # tests/tools mirrors tools/, which is no part of the package
    assert not tested - packages, "a folder of tests without a package"
    assert not {package for package in packages if package.count(".") == 1} - tested, "a package without tests"


def test_markers_are_registered_and_used() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    registered = {line.split(":")[0] for line in settings["markers"]}
    sources = "\n".join(file.read_text() for file in TESTS.rglob("*.py"))
    used = set(re.findall(r"pytest\.mark\.(\w+)", sources)) - {"parametrize", "skipif", "filterwarnings"}
    assert used - {"usefixtures", "xfail"} == registered
