"""Every dependency is imported, every third-party import is declared, and the lock file covers both."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from common.paths import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
SOURCE = REPOSITORY / "src"
LOCK = REPOSITORY / "requirements.lock"
DISTRIBUTIONS = packages_distributions()
LOCAL = {path.stem for name in ("src", "tests", "tools", "benchmarks") for path in (REPOSITORY / name).iterdir()}

# Modules of the package that need an extra; everything else must work with the runtime dependencies.
EXTRAS = {
    "sign/baselines/samplers/clustergcn.py": "baselines",
    "sign/engines/spark": "spark",
    "sign/prediction/onnx_format.py": "onnx",
    "sign/tracking/workspace.py": "workspace",
}
# Runtime dependencies that another library imports for us, and what in our sources makes it do so.
INDIRECT = {
    "plotly": "optuna.visualization",
    "hydra-optuna-sweeper": "hydra_plugins.hydra_optuna_sweeper",  # _target_ of Hydra's samplers
}
# Peers of the benchmarks that are compared where they are installed.
OPTIONAL_PEERS = {"graphblas", "dgl"}


def distribution(requirement: str) -> str:
    """``PyYAML>=6.0 ; marker`` and ``psycopg[binary]`` as the normalised names ``pyyaml`` and ``psycopg``."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;]", requirement.strip())[0]).lower()


RUNTIME = {distribution(line) for line in PROJECT["dependencies"]}
EXTRA = {name: {distribution(line) for line in lines} for name, lines in PROJECT["optional-dependencies"].items()}


def imports(source: str) -> set[str]:
    """The dotted names of all absolute imports, at any depth, and of ``import_module("…")`` calls."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = ast.unparse(node.func).split(".")[-1]
            if function in ("import_module", "__import__", "importorskip"):
                names.add(str(node.args[0].value))
    return names


def third_party(source: str) -> set[str]:
    """The normalised distributions that the imports of ``source`` come from."""
    heads = {name.split(".")[0] for name in imports(source)} - sys.stdlib_module_names - LOCAL
    return {distribution(found) for head in heads for found in DISTRIBUTIONS.get(head, [head])}


def sources(folder: Path) -> Iterator[tuple[str, str]]:
    """Path within ``folder`` and Python source of each module and notebook."""
    for file in sorted(folder.rglob("*.py")):
        yield file.relative_to(folder).as_posix(), file.read_text()
    for file in sorted(folder.rglob("*.ipynb")):
        cells = json.loads(file.read_text())["cells"]
        lines = [line for cell in cells if cell["cell_type"] == "code" for line in [*cell["source"], "\n"]]
        yield file.name, "".join(re.sub(r"^(\s*)[%!].*", r"\1pass", line) for line in lines)


@pytest.mark.parametrize(
    "source",
    [
        "import yaml",
        "import yaml.nodes as nodes",
        "from yaml import safe_load",
        "from yaml.nodes import Node",
        "def load():\n    if True:\n        import yaml",
        "try:\n    import yaml\nexcept ImportError:\n    pass",
        "import importlib\nyaml = importlib.import_module('yaml')",
    ],
)
def test_an_import_is_found_in_any_form(source: str) -> None:
    assert third_party(source) == {"pyyaml"}


def test_local_and_standard_modules_are_not_third_party() -> None:
    assert not third_party("import json, sign.cli\nfrom . import yaml\nfrom common.paths import REPOSITORY")


def test_the_package_imports_only_declared_dependencies() -> None:
    undeclared = {}
    for file, source in sources(SOURCE):
        extra = next((name for prefix, name in EXTRAS.items() if file.startswith(prefix)), None)
        undeclared[file] = third_party(source) - RUNTIME - EXTRA.get(extra or "", set())
    assert not {file: names for file, names in undeclared.items() if names}


def test_every_runtime_dependency_is_imported_by_the_package() -> None:
    everything = "\n".join(source for _, source in sources(SOURCE))
    indirect = {name for name, cause in INDIRECT.items() if cause in everything}
    assert RUNTIME - third_party(everything) == indirect


def test_modules_that_need_an_extra_exist_and_import_it() -> None:
    for prefix, extra in EXTRAS.items():
        used = {name for file, source in sources(SOURCE) if file.startswith(prefix) for name in third_party(source)}
        assert used & EXTRA[extra], prefix


@pytest.mark.parametrize("folder", ["tests", "notebooks", "benchmarks", "examples", "tools", "docs"])
def test_development_code_imports_only_declared_dependencies(folder: str) -> None:
    declared = RUNTIME.union(*EXTRA.values()) | OPTIONAL_PEERS
    for file, source in sources(REPOSITORY / folder):
        assert not third_party(source) - declared, f"{folder}/{file}"


def test_the_lock_pins_every_dependency_without_naming_an_index() -> None:
    lines = [line for line in LOCK.read_text().splitlines() if line and not line.lstrip().startswith("#")]
    assert all(re.match(r"[a-z0-9-]+==[0-9][^/]*$", line) for line in lines), "not a plain pin"
    pinned = {distribution(line) for line in lines}
    assert not RUNTIME.union(*EXTRA.values()) - pinned, "run `make lock`"
    assert not [name for name in pinned if name.startswith(("nvidia-", "cuda-", "triton"))]
