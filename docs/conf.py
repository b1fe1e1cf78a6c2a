"""Sphinx configuration; ``make docs`` builds the site."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tools"))

import reference  # noqa: E402

from sign import __version__  # noqa: E402

reference.write(DOCS / "reference" / "generated")

project = "SIGN"
author = "SIGN contributors"
project_copyright = author
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "docs_extension"]
exclude_patterns = ["_build"]
nb_execution_mode = "off"  # notebooks are shown with their stored outputs
nb_render_markdown_format = "myst"  # tables among the outputs
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # the anchors that GitHub gives to headings

nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sign\.).*")]  # names of other libraries, which have no pages here
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False
python_maximum_signature_line_length = 88

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"SIGN {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_use_index = False
html_theme_options = {"navigation_with_keys": True}
