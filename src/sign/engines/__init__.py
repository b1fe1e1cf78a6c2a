"""Where products run. One contract (``base.py``), one shared test suite, one engine per file or package."""
