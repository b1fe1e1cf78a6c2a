"""Slot utilisation of a search, ours and hydra-optuna-sweeper with the joblib launcher, in the same run.

python benchmarks/search.py --trials 24 --slots 2

Trials sleep for uneven times, the same ones for both. The ideal is the sum of these times divided by the number of
slots. The joblib launcher is not a dependency of the project: without hydra-joblib-launcher it is not measured.
"""

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
LENGTHS = "SIGN_BENCHMARK_LENGTHS"


def lengths(trials: int) -> list[float]:
    """Draw mostly short durations, and some that are six times as long."""
    draw = random.Random(0)
    return [round(draw.choice([1.5, 1.5, 2.0, 3.0, 9.0]) * draw.uniform(0.8, 1.2), 3) for _ in range(trials)]


def ours(seconds: Sequence[float], slots: int, folder: Path) -> tuple[float, float]:
    """Return the wall-clock seconds of our search, and the sum of the seconds of its trials."""
    from optuna.distributions import FloatDistribution

    from sign.search.scheduler import RunningTrial, Scheduler
    from sign.search.slots import make_slots
    from sign.search.study_db import StudyDB

    class Silent:
        def update(self, running: Sequence[RunningTrial]) -> None: ...

        def trial_ended(self, number: int) -> None: ...

    def command(trial: object, folder: Path) -> list[str]:
        return [sys.executable, "-I", "-S", __file__, "--sleep", str(seconds[trial.number])]  # type: ignore[attr-defined]

    db = StudyDB(folder, "benchmark", {"x": FloatDistribution(0, 1)}, len(seconds))
    started = time.perf_counter()
    Scheduler(db, make_slots(slots, None, "cpu"), command, Silent()).run()
    return time.perf_counter() - started, sum(trial.user_attrs["seconds"] for trial in db.read_trials())


STOCK = """
import json, os, time
import hydra

@hydra.main(config_path=None, config_name=None, execution_whitelist=("optuna.*", "hydra_plugins.*"))
def main(cfg):
    time.sleep(json.loads(os.environ["{lengths}"])[hydra.core.hydra_config.HydraConfig.get().job.num])
    return float(cfg.x)

if __name__ == "__main__":
    main()
"""


def stock(seconds: Sequence[float], slots: int, folder: Path) -> float | None:
    """Return the wall-clock seconds of the stock sweeper."""
    if importlib.util.find_spec("hydra_plugins.hydra_joblib_launcher") is None:
        return None
    program = folder / "stock.py"
    program.write_text(STOCK.format(lengths=LENGTHS))
    overrides = ["-m", "hydra/sweeper=optuna", "hydra/launcher=joblib", f"hydra.launcher.n_jobs={slots}"]
    overrides += [f"hydra.sweeper.n_jobs={slots}", f"hydra.sweeper.n_trials={len(seconds)}"]
    overrides += ["+x=interval(0,1)", f"hydra.sweep.dir={folder}/sweep", "hydra/sweeper/sampler=tpe"]
    environment = {**os.environ, LENGTHS: json.dumps(list(seconds))}
    started = time.perf_counter()
    subprocess.run([sys.executable, str(program), *overrides], check=True, env=environment, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--sleep", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.sleep is not None:
        from sign.search.worker import as_worker

        time.sleep(arguments.sleep)
        as_worker(lambda: 0.0)()
        return
    seconds = lengths(arguments.trials)
    ideal = sum(seconds) / arguments.slots
    print(f"{arguments.trials} trials on {arguments.slots} slots sleep for {sum(seconds):.1f} s: ideal {ideal:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        wall, spent = ours(seconds, arguments.slots, Path(folder, "ours"))
        print(
            f"ours: {wall:.1f} s, {wall / ideal:.2f} of the ideal; "
            f"{wall / (spent / arguments.slots):.2f} of it with the seconds of the processes"
        )
        theirs = stock(seconds, arguments.slots, Path(folder))
    if theirs is None:
        print("hydra-optuna-sweeper with joblib: not measured (pip install hydra-joblib-launcher)")
    else:
        print(f"hydra-optuna-sweeper with joblib: {theirs:.1f} s, {theirs / ideal:.2f} of the ideal")


if __name__ == "__main__":
    main()
