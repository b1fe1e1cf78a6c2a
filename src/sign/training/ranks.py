"""The ranks of distributed training: which one this process is, and how many there are. Free of torch at import."""

import os
from dataclasses import dataclass

from sign.errors import FieldError, SignError
from sign.training.settings import Device

LAUNCHER = "SIGN_LAUNCHER"  # environment variable: the process id of rank 0, which launched this rank


@dataclass(frozen=True)
class Rank:
    """One of ``world_size`` processes on ``nodes`` machines; ``local_rank`` counts on its machine."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    nodes: int = 1

    @property
    def devices(self) -> int:
        """Ranks per machine."""
        return self.world_size // self.nodes


def this_rank(device: Device) -> Rank:
    """The rank of this process: given by its launcher, or rank 0 of as many as ``device`` asks for."""
    if own := launched(device):
        return own
    if not device.several and device.accelerator != "gpu":
        return Rank()
    import torch

    if device.accelerator == "gpu" and not (torch.cuda.is_available() or torch.backends.mps.is_available()):
        raise FieldError("trainer.accelerator", "gpu", "no GPU was found; use trainer=auto or trainer=cpu")
    if device.num_nodes not in (None, 1):
        advice = "start the command on every machine with torchrun or srun"
        raise FieldError("trainer.num_nodes", device.num_nodes, advice)
    gpus = torch.cuda.device_count() if uses_gpu(device) else 0
    if device.devices is None and not gpus:
        raise FieldError("trainer.devices", None, "no GPU was found; set the number of processes, such as 2")
    if gpus and device.devices and device.devices > gpus:
        raise FieldError("trainer.devices", device.devices, f"this machine has {gpus} GPUs")
    return Rank(world_size=device.devices or gpus)


def uses_gpu(device: Device) -> bool:
    """Whether training runs on CUDA."""
    import torch

    return device.accelerator in ("auto", "gpu") and torch.cuda.is_available()


def launched(device: Device) -> Rank | None:
    """The rank that a launcher gave to this process; None if it was started alone."""
    own = torchrun()
    if own and own.world_size > 1 and not device.several:
        raise SignError(
            f"torchrun started {own.world_size} processes, but trainer.devices={device.devices}; use trainer=ddp"
        )
    if not device.several or not (own := own or slurm() or relaunched()):
        return None
    for name, value, actual in (("devices", device.devices, own.devices), ("num_nodes", device.num_nodes, own.nodes)):
        if value not in (None, actual):
            raise FieldError(f"trainer.{name}", value, f"this command was launched with {actual}; omit it")
    return own


def launched_rank() -> int:
    """The rank of this process among those of torchrun or of rank 0, which belong to one run; 0 without them."""
    own = torchrun() or relaunched()
    return own.rank if own else 0


def torchrun() -> Rank | None:
    """The rank that torchrun gave to this process."""
    values = _integers("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    if values is None or "TORCHELASTIC_RUN_ID" not in os.environ:
        return None
    rank, world_size, local_rank, local_world_size = values
    return Rank(rank, world_size, local_rank, world_size // local_world_size)


def slurm() -> Rank | None:
    """The rank that srun gave to this process; without srun, a process sees the variables of the whole job."""
    values = _integers("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NNODES")
    interactive = os.environ.get("SLURM_JOB_NAME") in ("bash", "interactive")
    by_srun = os.environ.get("SLURM_STEP_ID", "").isdigit()
    return Rank(*values) if values is not None and values[1] > 1 and by_srun and not interactive else None


def relaunched() -> Rank | None:
    """The rank of a process that rank 0 launched with Lightning, or of rank 0 itself afterwards."""
    values = _integers(LAUNCHER, "LOCAL_RANK", "WORLD_SIZE")
    return Rank(values[1], values[2], values[1]) if values else None


def _integers(*names: str) -> list[int] | None:
    values = [os.environ.get(name, "") for name in names]
    return [int(value) for value in values] if all(value.isdigit() for value in values) else None
