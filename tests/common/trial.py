"""A trial that costs nothing: ``python trial.py what=… seconds=… x=…`` with the result (x - 0.3)²."""

import errno
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from sign.errors import SignError
from sign.search.worker import as_worker


def train(run: Path, loss: float) -> None:
    """Write a run folder that grows by one epoch; a loss above 1 takes ten seconds."""
    run.mkdir()
    (run / "run.json").write_text("{}")
    with (run / "metrics.csv").open("w") as file:
        file.write("epoch,val/loss\n")
        for epoch in range(100 if loss > 1 else 12):
            file.write(f"{epoch},{loss}\n")
            file.flush()
            time.sleep(0.1 if loss > 1 else 0.0)


def main() -> float:
    arguments = dict(argument.split("=", 1) for argument in sys.argv[1:])
    started = time.time()
    time.sleep(float(arguments.get("seconds", 0)))
    log = {"device": os.environ.get("CUDA_VISIBLE_DEVICES"), "start": started, "end": time.time(), **arguments}
    if "log" in arguments:
        Path(arguments["log"], f"{os.getpid()}.json").write_text(json.dumps(log))
    if "loss" in arguments:
        train(Path(arguments["folder"], "run"), float(arguments["loss"]))
    match arguments.get("what"):
        case "raise":
            raise RuntimeError("CUDA out of memory")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "nan":
            return float("nan")
        case "full":
            raise OSError(errno.ENOSPC, "no space left on device")
    return (float(arguments.get("x", 0)) - 0.3) ** 2


if __name__ == "__main__":
    try:
        as_worker(main)()
    except SignError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
