"""A trial that costs nothing: ``python trial.py what=… seconds=… x=…`` with the result (x - 0.3)²."""

import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from sign.search.worker import answering


def train(run: Path, loss: float) -> None:
    """A run folder that grows by an epoch every tenth of a second."""
    run.mkdir()
    (run / "run.json").write_text("{}")
    with (run / "metrics.csv").open("w") as file:
        file.write("epoch,val/loss\n")
        for epoch in range(100 if loss > 1 else 12):
            file.write(f"{epoch},{loss}\n")
            file.flush()
            time.sleep(0.1 if loss > 1 else 0.0)


def main() -> float:
    words = dict(word.split("=", 1) for word in sys.argv[1:])
    started = time.time()
    time.sleep(float(words.get("seconds", 0)))
    log = {"device": os.environ.get("CUDA_VISIBLE_DEVICES"), "start": started, "end": time.time(), **words}
    if "log" in words:
        Path(words["log"], f"{os.getpid()}.json").write_text(json.dumps(log))
    if "loss" in words:
        train(Path(words["folder"], "run"), float(words["loss"]))
    match words.get("what"):
        case "raise":
            raise RuntimeError("CUDA out of memory")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "nan":
            return float("nan")
    return (float(words.get("x", 0)) - 0.3) ** 2


if __name__ == "__main__":
    answering(main)()
