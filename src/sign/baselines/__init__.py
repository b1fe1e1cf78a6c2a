"""The systems that the paper compares SIGN with."""
