"""The commands: one file each, with its arguments and ``main(cfg)``."""
