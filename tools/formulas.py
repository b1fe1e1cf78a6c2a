"""Formulas of docstrings in the form that docutils turns into MathML."""

LETTERS = {  # letters that docutils knows by their TeX names only
    "½": r"\frac{1}{2}",
    "⊤": r"\top ",
    "≈": r"\approx ",
    "∩": r"\cap ",
    "∝": r"\propto ",
    "∈": r"\in ",
    "→": r"\rightarrow ",
    "≠": r"\ne ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "…": r"\ldots ",
    "·": r"\cdot ",
    "×": r"\times ",
}
ALIASES = {r"\dots": r"\ldots"}  # commands that docutils lacks


def spelled_out(tex: str) -> str:
    r"""Return a formula in TeX that docutils knows.

    >>> spelled_out(r"i → j, \dots")
    'i \\rightarrow  j, \\ldots'
    """
    for command, known in ALIASES.items():
        tex = tex.replace(command, known)
    return tex.translate(str.maketrans(LETTERS))
