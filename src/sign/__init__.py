"""SIGN: Scalable Inception Graph Neural Networks.

Importing the package is cheap: torch, numba and the rest are imported by the modules that use them.
"""

__version__ = "0.1.0"
