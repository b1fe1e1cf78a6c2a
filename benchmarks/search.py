"""Slot utilisation of a search, and how much of a search is training.

python benchmarks/search.py --trials 24 --slots 2   # ours and hydra-optuna-sweeper with the joblib launcher, in one run
python benchmarks/search.py --imports               # the default search on Cora: forked trials, or a process per trial

For the utilisation, trials sleep for uneven times, the same ones for both. The ideal is the sum of these times divided
by the number of slots. The joblib launcher is not a dependency of the project: without hydra-joblib-launcher it is not
measured. For the imports, searches take turns whose trials are forked from a server, or are ``python src/train.py``
each; they share a store that has the hops.
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
    from sign.search.slots import SlotPool, make_slots
    from sign.search.study_db import StudyDB

    class Silent:
        def update(self, running: Sequence[RunningTrial]) -> None: ...

        def trial_ended(self, number: int) -> None: ...

    def command(trial: object, folder: Path) -> list[str]:
        return [__file__, "--sleep", str(seconds[trial.number])]  # type: ignore[attr-defined]

    db = StudyDB(folder, "benchmark", {"x": FloatDistribution(0, 1)}, len(seconds))
    started = time.perf_counter()
    Scheduler(db, SlotPool(make_slots(slots, None, "cpu")), command, Silent()).run()
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


class Processes:
    """Workers that import the libraries themselves, in place of a ``ForkServer``."""

    alive = True

    def __init__(self, *_: object) -> None:
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, number: int, command: Sequence[str], variables: dict[str, str], folder: Path, show: bool) -> None:
        with (folder / "stdout.txt").open("wb") as out, (folder / "stderr.txt").open("wb") as err:
            variables = variables | {"SIGN_PARENT": str(os.getpid())}
            command = [sys.executable, *command]
            self.processes[number] = subprocess.Popen(command, stdout=out, stderr=err, env=variables)

    def poll(self, number: int) -> int | None:
        return self.processes[number].poll()

    def kill(self, number: int) -> None:
        self.processes[number].kill()

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


def search_cora(way: str, overrides: list[str]) -> None:
    """Run the default search in this process."""
    from sign.cli import run
    from sign.commands.train import main
    from sign.search import slots

    if way == "processes":
        slots.ForkServer = Processes  # type: ignore[assignment, misc]
    sys.argv = [str(Path(__file__).resolve().parents[1] / "src" / "train.py"), *overrides]
    run(main)


def compare_imports(slots: int, rounds: int, overrides: list[str]) -> None:
    """Print the seconds of both ways in turn, and compare the values of their trials."""
    walls: dict[str, list[float]] = {"forks": [], "processes": []}
    with tempfile.TemporaryDirectory() as folder:
        shared = ["-m", "hparams_search=tpe", f"search.slots={slots}", f"paths.store_dir={folder}/store", *overrides]
        environment = {**os.environ, "WANDB_MODE": "offline"}
        precompute = [sys.executable, str(Path(__file__).resolve().parents[1] / "src" / "precompute.py")]
        subprocess.run([*precompute, shared[3]], check=True, capture_output=True)
        for turn in range(rounds):
            values = []
            for way, seconds in walls.items():
                output = Path(folder, f"{way}-{turn}")
                command = [sys.executable, __file__, "--search", way, *shared, f"paths.output_dir={output}"]
                before, started = sum(os.times()[2:4]), time.perf_counter()
                subprocess.run(command, check=True, env=environment, capture_output=True)
                seconds.append(time.perf_counter() - started)
                print(
                    f"{way}: {seconds[-1]:.1f} s, {sum(os.times()[2:4]) - before:.1f} s of processor time", flush=True
                )
                (study,) = output.rglob("study.json")
                trials = json.loads(study.read_text())["trials"]
                values.append({json.dumps(trial["params"], sort_keys=True): trial["value"] for trial in trials})
            common = values[0].keys() & values[1].keys()
            equal = sum(values[0][params] == values[1][params] for params in common)
            print(f"{equal} of {len(common)} trials with the same settings have the same value")
    ratios = [old / new for new, old in zip(walls["forks"], walls["processes"], strict=True)]
    print(f"processes took {', '.join(f'{ratio:.2f}' for ratio in ratios)} times as long as forks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--imports", action="store_true", help="compare forked trials with a process per trial")
    parser.add_argument("--rounds", type=int, default=3, help="of --imports")
    parser.add_argument("--sleep", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--search", help=argparse.SUPPRESS)
    arguments, overrides = parser.parse_known_args()
    if arguments.search:
        search_cora(arguments.search, overrides)
        return
    if arguments.imports:
        compare_imports(arguments.slots, arguments.rounds, overrides)
        return
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
