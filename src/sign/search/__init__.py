"""Hyperparameter search: a Hydra sweeper that runs an Optuna study on the devices of one or several machines."""
