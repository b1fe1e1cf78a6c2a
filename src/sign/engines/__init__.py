"""Where products run. One contract (``engine.py``), one shared test-suite, an engine a file."""
