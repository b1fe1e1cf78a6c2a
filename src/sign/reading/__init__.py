"""Files of the user's own ▶ the parts of a graph. Nothing that is read can run code."""
