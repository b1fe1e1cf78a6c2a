"""The documentation names only pages, files, settings, choices and Python names that exist."""

import ast
import functools
import json
import re
import shlex
import tomllib
import unicodedata
from pathlib import Path

import pytest
import reference
import yaml
from common.paths import REPOSITORY
from formulas import spelled_out
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser

import sign
from sign.config.overrides import GLOBAL, normalize_override

CONF = REPOSITORY / "conf"
SITE = REPOSITORY / "docs"
BUILT = ("_build", "generated")  # by `make docs`
PAGES = [page for page in sorted(SITE.rglob("*.md")) if not set(BUILT) & set(page.relative_to(SITE).parts)]
DOCS = [REPOSITORY / "README.md", *PAGES]
LINKED = [*DOCS, REPOSITORY / "CHANGELOG.md", REPOSITORY / "CONTRIBUTING.md"]
PLACEHOLDERS = ("<", "…", "...", "--config-dir")  # the last: a configuration that a search writes
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    """The path of a page in the repository, as the name of a test."""
    return page.relative_to(REPOSITORY).as_posix()


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return FENCE.sub("", page.read_text())


def code_spans(page: Path) -> list[str]:
    """The inline code of a page."""
    return re.findall(r"`([^`]+)`", prose(page))


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_every_link_points_to_a_file_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith(("http:", "https:")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def toctree(page: Path) -> list[Path]:
    """The files that the tables of contents of a page name; generated ones do not have to exist."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    entries = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return [page.parent / re.sub(r"^.*<(.*)>$", r"\1", entry) for entry in entries]  # an entry may have a title


def test_every_page_is_in_one_table_of_contents() -> None:
    entries = [entry for page in PAGES for entry in toctree(page)]
    pages = [
        (file.parent.resolve() / f"{file.name}.md").relative_to(SITE)
        for file in entries
        if "notebooks" not in file.parts
    ]
    generated = {Path("reference/generated", name) for name in reference.pages()}
    assert sorted(pages) == sorted({page.relative_to(SITE) for page in PAGES} - {Path("index.md")} | generated)
    notebooks = [file.name for file in entries if "notebooks" in file.parts]
    assert sorted(notebooks) == sorted(file.name for file in (REPOSITORY / "notebooks").glob("*.ipynb"))


def test_no_page_has_the_name_of_a_page_of_sphinx() -> None:
    assert not {page.stem for page in PAGES if page.parent == SITE} & {"search", "genindex", "py-modindex"}


def test_make_targets_and_extras_in_the_documentation_exist() -> None:
    text = "\n".join(page.read_text() for page in LINKED)
    targets = set(re.findall(r"^(\w+):.*## ", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make (\w+)", text, re.MULTILINE)) <= targets
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"pip install [^`\n]*\[(\w+)\]", text)) <= extras.keys()


def commands() -> list[str]:
    """The calls of the entry points in code blocks and inline code, with their overrides."""
    lines = []
    for text in [*(page.read_text() for page in DOCS), *reference.pages().values()]:
        for language, block in FENCE.findall(text):
            if language in ("", "bash", "sh"):
                lines += block.replace("\\\n", " ").splitlines()
        lines += re.findall(r"`([^`]+)`", FENCE.sub("", text))
    parts = [part.split("  #")[0].strip() for line in lines for part in line.split("&&")]
    calls = [part for part in parts if re.match(r"(\w+=\w+ )*(python|torchrun|srun) .*\bsrc/\w+\.py", part)]
    return sorted({call for call in calls if not any(mark in call for mark in PLACEHOLDERS)})


def one_value(override: str) -> str:
    """The override, with the first value of a sweep over several."""
    parsed = OverridesParser.create().parse_override(override)
    if not parsed.is_sweep_override():
        return override
    return f"{parsed.get_key_element()}={next(iter(parsed.sweep_string_iterator()))}"


@pytest.mark.parametrize("command", commands(), ids=str)
def test_every_command_composes(command: str) -> None:
    arguments = shlex.split(command)
    (at,) = (index for index, argument in enumerate(arguments) if argument.startswith("src/"))
    program, overrides = Path(arguments[at]), arguments[at + 1 :]
    assert (REPOSITORY / program).is_file()
    overrides = [one_value(normalize_override(override)) for override in overrides if override not in ("-m", "--help")]
    name = program.stem if (CONF / f"{program.stem}.yaml").is_file() else "train"
    with initialize_config_dir(str(CONF)):
        compose(name, overrides=overrides)


def test_commands_are_found_in_blocks_and_inline() -> None:
    assert len(commands()) > 40
    assert any(command.startswith("torchrun") for command in commands())


SCRIPT = re.compile(r"\bpython ((?:tools|benchmarks)/[\w/]+\.py)([^\n`#]*)")


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_tools_and_benchmarks_have_the_options_that_pages_use(page: Path) -> None:
    for script, arguments in SCRIPT.findall(page.read_text()):
        source = (REPOSITORY / script).read_text()
        for option in re.findall(r"--[\w-]+", arguments):
            assert f'"{option}"' in source, f"{script} {option}"


RECIPE = r"\| `python src/train.py ?([^`]*)` \| `conf/(\w+)/(\w+)\.yaml` \|"


@pytest.mark.parametrize(("arguments", "group", "choice"), re.findall(RECIPE, (SITE / "models.md").read_text()))
def test_a_recipe_has_the_settings_that_it_names(arguments: str, group: str, choice: str) -> None:
    overrides = [normalize_override(override) for override in shlex.split(arguments)]
    with initialize_config_dir(str(CONF)):
        cfg = compose("train", overrides=overrides, return_hydra_config=True)
    assert cfg.hydra.runtime.choices[group] == choice


@functools.cache
def settings_of(section: str) -> set[str]:
    """Every setting of a section, whatever is chosen for it."""
    known = {key for file in (CONF / section).glob("*.yaml") for key in yaml.safe_load(file.read_text())}
    known |= set(yaml.safe_load((CONF / "train.yaml").read_text()).get(section) or {})
    if section == "model":
        known |= settings_of("hops")
        known |= {f"operators.{letter}.{field}" for letter in "pstdf" for field in settings_of("operator")}
        known |= {f"labels.{name}" for name in yaml.safe_load((CONF / "hops" / "default.yaml").read_text())["labels"]}
    return known - {"defaults"}


SECTIONS = (
    *("dataset", "engine", "logger", "model", "paths", "scaling", "search", "smoothing", "store", "trainer"),
    "training",
)


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_every_setting_and_choice_in_the_text_exists(page: Path) -> None:
    tokens = [token.strip("'+") for span in code_spans(page) for token in span.split()]
    for token in tokens:
        key, _, value = token.partition("=")
        section, _, setting = key.partition(".")
        if any(mark in token for mark in PLACEHOLDERS) or key.endswith((".py", ".json", ".db")):
            continue
        if section in SECTIONS and setting and not setting.startswith("conf."):
            assert setting in settings_of(section), token
        elif value and not setting and (CONF / key).is_dir():
            off = key in GLOBAL and value == "null"
            assert off or (CONF / key / f"{value}.yaml").is_file(), token


NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name_of)
def test_a_notebook_has_outputs_that_the_site_can_show(notebook: Path) -> None:
    content = json.loads(notebook.read_text())
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert outputs, "run: make notebooks"
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert not re.search(r"/(?:tmp|home|root|Users)/", json.dumps(outputs)), "a path of one machine"
    assert not any(cell["metadata"] for cell in cells), "run: make notebooks"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name_of)
def test_a_notebook_installs_the_package_in_colab(notebook: Path) -> None:
    first = next(cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    guarded = f'if "google.colab" in sys.modules:\n    %pip install --quiet {project["name"]}'
    assert "".join(first["source"]).endswith(guarded)


PATH = r"\b(?:src/sign|conf|tests|tools|benchmarks|notebooks|examples)/[\w./-]*|\bsrc/\w+\.py"


@pytest.mark.parametrize("page", [*DOCS, *NOTEBOOKS], ids=name_of)
def test_every_path_of_the_repository_exists(page: Path) -> None:
    for path in re.findall(PATH, page.read_text()):
        assert (REPOSITORY / path.rstrip(".")).exists(), path


def defined(module: Path) -> set[str]:
    """The names at the top level of a module, and the methods of its classes."""
    names: set[str] = set()
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            names |= {f"{node.name}.{child.name}" for child in node.body if isinstance(child, ast.FunctionDef)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


PUBLIC = re.compile(rf"^sign\.({'|'.join(sign.__all__)})\b")  # names that the package itself has


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or a function, class or method of one; nothing is imported."""
    name = PUBLIC.sub(lambda match: f"{sign._MODULES.get(match[1], 'sign')}.{match[1]}", name)
    path = REPOSITORY / "src" / Path(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    for parent in (path.parent, path.parent.parent):
        for module in (parent.with_suffix(".py"), parent / "__init__.py"):
            if module.is_file():
                return ".".join(path.relative_to(parent).parts) in defined(module)
    return False


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_every_python_name_exists(page: Path) -> None:
    text = page.read_text()
    names = {*re.findall(r"(?<![\w./-])sign(?:\.[A-Za-z_]\w*)+", text)}
    for module, imported in re.findall(r"^from (sign[\w.]*) import (.+)$", text, re.MULTILINE):
        names |= {f"{module}.{name.strip()}" for name in imported.split(",")}
    for name in sorted(names):
        assert exists(name), name


@pytest.mark.parametrize(
    "name", ["sign.nothing", "sign.graph.nothing", "sign.graph.graph.Nothing", "sign.graph.graph.Graph.nothing"]
)
def test_a_name_that_does_not_exist_is_caught(name: str) -> None:
    assert not exists(name)


API = {
    name: list(filter(None, members.split(", ")))
    for name, members in re.findall(
        r"^\.\. auto\w+:: (sign[\w.]+)(?:\n   :members: (.*))?$",
        (SITE / "reference" / "api.md").read_text(),
        re.MULTILINE,
    )
}


def test_the_api_page_documents_the_public_names_and_members_that_exist() -> None:
    assert {f"sign.{name}" for name in sign.__all__} <= API.keys()
    for name, members in API.items():
        assert exists(name), name
        for member in members:
            assert exists(f"{name}.{member}"), f"{name}.{member}"


def missing_sections(node: ast.FunctionDef | ast.ClassDef, fields: bool) -> list[str]:
    """The numpydoc sections that a function, or the ``fields`` of a class, should have and does not."""
    sections = set(re.findall(r"^(\w+)\n-+$", ast.get_docstring(node) or "", re.MULTILINE))
    if isinstance(node, ast.ClassDef):
        return [] if not fields or "Parameters" in sections else ["Parameters"]
    arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    expected = {"Parameters"} if {*arguments, node.args.kwarg} - {"self", "cls", None} else set()
    missing = [*(expected - sections)]
    returned = ast.unparse(node.returns) if node.returns else "None"
    return missing if returned == "None" or sections & {"Returns", "Yields"} else [*missing, "Returns"]


def test_graphs_have_fields_whose_types_are_documented() -> None:
    tree = ast.parse((REPOSITORY / "src" / "sign" / "graph" / "graph.py").read_text())
    (graph,) = (each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Graph")
    fields = [ast.unparse(each.annotation) for each in graph.body if isinstance(each, ast.AnnAssign)]
    documented = {name.rpartition(".")[2] for name in API} | {
        "Array",
        "Features",
        "Floats",
        "None",
    }  # aliases are spelled out
    classes = {name for field in fields for name in re.findall(r"\b[A-Z]\w+", field)}
    assert classes <= documented


@pytest.mark.parametrize("name", API)
def test_the_public_api_has_numpydoc_sections(name: str) -> None:
    name_in_module = PUBLIC.sub(lambda match: f"{sign._MODULES[match[1]]}.{match[1]}", name)
    module, _, own = name_in_module.rpartition(".")
    tree = ast.parse((REPOSITORY / "src" / Path(*module.split("."))).with_suffix(".py").read_text())
    (node,) = (each for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == own)
    fields = any(isinstance(each, ast.AnnAssign) and "ClassVar" not in ast.unparse(each) for each in node.body)
    assert not missing_sections(node, fields), name
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name in API[name]:
            is_property = any("property" in ast.unparse(decorator) for decorator in each.decorator_list)
            assert is_property or not missing_sections(each, fields=False), f"{name}.{each.name}"


# Commands of formulas that the site can show: docutils turns them into MathML (tools/docs_extension.py).
TEX = """
Delta Gamma Lambda Omega Phi Pi Psi Sigma Theta Xi alpha approx bar beta bot cap cdot cdots chi circ cos cup
deg delta dots epsilon equiv eta exists exp forall frac gamma ge geq hat in infty int iota kappa lVert lambda
langle lceil ldots le left leftarrow leq lfloor ln log mapsto mathbb mathbf mathcal mathrm max mid min mu ne
neq notin nu odot omega operatorname oplus otimes overline partial phi pi pm prod propto psi qquad quad rVert
rangle rceil rfloor rho right rightarrow setminus sigma sim sin sqrt subset subseteq sum tan tanh tau text
theta tilde times to top varepsilon varphi vert widehat widetilde xi zeta
"""


def test_formulas_have_commands_that_the_site_can_show() -> None:
    docstrings = "".join(file.read_text() for file in (REPOSITORY / "src" / "sign").rglob("*.py"))
    formulas = re.findall(r":math:`([^`]+)`", docstrings)
    formulas += [match for page in PAGES for match in re.findall(r"\$\$?([^$\n][^$]*)\$\$?", prose(page))]
    assert len(formulas) > 30
    used = {command for formula in formulas for command in re.findall(r"\\([A-Za-z]+)", formula)}
    assert used <= {*TEX.split()}, "build the site, and add what it shows"
    letters = {letter for formula in formulas for letter in spelled_out(formula) if not letter.isascii()}
    assert all(unicodedata.category(letter)[0] in "LN" for letter in letters), (
        "tools/formulas.py needs the TeX of a letter"
    )


ARCHITECTURE = (REPOSITORY / "docs" / "architecture.md").read_text()


def test_the_walk_names_functions_that_exist() -> None:
    steps = re.findall(r"^\| (\d+) \| `([\w/]+)\.py` \| `([\w.]+)` \|", ARCHITECTURE, re.MULTILINE)
    assert [int(number) for number, *_ in steps] == list(range(1, len(steps) + 1))
    assert len(steps) > 20
    for _, file, function in steps:
        assert exists(f"sign.{file.replace('/', '.')}.{function}"), function


def test_the_architecture_page_lists_every_package() -> None:
    listed = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", ARCHITECTURE, re.MULTILINE)
    sources = [path for path in (REPOSITORY / "src" / "sign").iterdir() if path.suffix == ".py" or path.is_dir()]
    assert sorted(listed) == sorted(path.stem for path in sources if not path.name.startswith("__"))


def test_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 150
