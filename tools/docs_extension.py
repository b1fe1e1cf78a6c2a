"""A Sphinx extension: formulas as MathML, titles in place of file names, and short signatures.

Pages are written for GitHub and for the site; this is what the site shows differently.
"""

import posixpath
import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from formulas import spelled_out

ARRAY = re.compile(r"(~?numpy\.ndarray)\[tuple\[.*?\], ~?numpy\.dtype\[.*?\]\]")
RANGE = re.compile(r"~?(?:typing\.)?Annotated\[(.+?), ~?[\w.]*Range\(.*?\)\]")


def short_signature(app: Any, what: str, name: str, obj: Any, options: Any, signature: Any, returned: Any) -> Any:
    """Shorten the types of a signature: the pages of the settings have the ranges."""
    if signature is None:
        return None
    return tuple(text and RANGE.sub(r"\1", ARRAY.sub(r"\1", text)) for text in (signature, returned))


def show_titles(app: Any, doctree: Any, page: str) -> None:
    """Show the title of a page where a link, as on GitHub, has the name of its file."""
    for link in doctree.findall(nodes.reference):
        if link.get("internal") and re.fullmatch(r"(docs/)?[\w-]+\.md", link.astext()):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link["refuri"].split(".html")[0]))
            title = app.env.titles[target].astext()
            link.children = [nodes.inline(title, title)]


def mathml(tex: str, block: bool = False) -> str:
    """Return a formula as MathML, which needs no script from the network, as MathJax would."""
    return str(tex2mathml(spelled_out(tex), as_block=block))


def visit_math(translator: Any, node: Any) -> None:
    """Write a formula of a line of text."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(translator: Any, node: Any) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-signature", short_signature)
    app.connect("doctree-resolved", show_titles)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
