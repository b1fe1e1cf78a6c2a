"""Sphinx configuration; ``make docs`` builds the site."""

import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tools"))
os.environ.setdefault("WANDB_MODE", "offline")

import reference  # noqa: E402

from sign import __version__  # noqa: E402

reference.write(DOCS / "reference" / "generated")

project = "SIGN"
author = "SIGN contributors"
project_copyright = author
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # the anchors that GitHub gives to headings

nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sign\.).*")]  # names of other libraries, which have no pages here
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"SIGN {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def without_ranges(app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returned: str) -> Any:
    """Return the signature with plain types: the pages of the settings have the ranges."""
    if signature is None:
        return None
    plain = re.sub(r"~?(?:typing\.)?Annotated\[(.+?), ~?[\w.]*Range\(.*?\)\]", r"\1", signature)
    return plain, returned


def titles_for_files(app: Any, doctree: Any, page: str) -> None:
    """Show the title of a page where a link, as on GitHub, shows the name of its file."""
    for link in doctree.findall(nodes.reference):
        if link.get("internal") and re.fullmatch(r"(docs/)?[\w-]+\.md", link.astext()):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link["refuri"].split(".html")[0]))
            title = app.env.titles[target].astext()
            link.children = [nodes.inline(title, title)]


def setup(app: Any) -> None:
    """Connect what Sphinx calls."""
    app.connect("autodoc-process-signature", without_ranges)
    app.connect("doctree-resolved", titles_for_files)
