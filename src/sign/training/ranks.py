"""Which of the processes that train together this one is. Only the environment is asked, so it is known at once."""

import os
from dataclasses import dataclass

from sign.errors import FieldError, SignError
from sign.training.settings import Device


@dataclass(frozen=True)
class Place:
    """One of ``world`` processes on ``machines``; ``local_rank`` counts on its machine."""

    rank: int = 0
    world: int = 1
    local_rank: int = 0
    machines: int = 1

    @property
    def devices(self) -> int:
        """Processes on each machine."""
        return self.world // self.machines


def given(device: Device) -> Place | None:
    """The place that torchrun or SLURM gave to this process; None where nobody started several."""
    started = _torchrun()
    if started and started.world > 1 and not device.several:
        raise SignError(
            f"torchrun started {started.world} processes, but trainer.devices={device.devices}; use trainer=ddp"
        )
    if not device.several or not (started := started or _slurm()):
        return None
    for name, asked, here in (
        ("devices", device.devices, started.devices),
        ("num_nodes", device.num_nodes, started.machines),
    ):
        if asked not in (None, here):
            raise FieldError(f"trainer.{name}", asked, f"this command was started with {here}; leave it out")
    return started


def follows() -> bool:
    """Whether another process of torchrun's, which are all of one run, says what there is to say."""
    started = _torchrun()
    return started is not None and started.rank > 0


def _torchrun() -> Place | None:
    number = _numbers("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    if number is None or "TORCHELASTIC_RUN_ID" not in os.environ:
        return None
    rank, world, local_rank, local_world = number
    return Place(rank, world, local_rank, world // local_world)


def _slurm() -> Place | None:
    number = _numbers("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NNODES")
    interactive = os.environ.get("SLURM_JOB_NAME") in ("bash", "interactive")
    by_srun = os.environ.get(
        "SLURM_STEP_ID", ""
    ).isdigit()  # else one process has the numbers of the whole job
    return Place(*number) if number is not None and number[1] > 1 and by_srun and not interactive else None


def _numbers(*names: str) -> list[int] | None:
    values = [os.environ.get(name, "") for name in names]
    return [int(value) for value in values] if all(value.isdigit() for value in values) else None
