"""Run campaigns and print tries and failures: ``python -m faults kills graphs --seed 1 --tries 50``."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from faults.campaign import Campaign, Try, summary, table
from faults.configurations import CONFIGURATIONS
from faults.damaged_folders import FOLDERS
from faults.disks import DISKS
from faults.kills import KILLS
from faults.malformed_graphs import GRAPHS
from faults.processes import preload

CAMPAIGNS: dict[str, Campaign] = {
    campaign.name: campaign for campaign in (KILLS, GRAPHS, CONFIGURATIONS, DISKS, FOLDERS)
}
PAGE = """# Faults: what happens when something goes wrong

`make faults` kills, misconfigures and starves the commands and feeds them malformed files; it prints tries and
failures, ends with exit code 1 if there is a failure, and writes this page. The campaigns are programs under
`tests/faults`. They are drawn from a seed: `make faults ARGS="kills --seed 1 --tries 20"` runs one of them with another
seed and fewer tries. A few tries of each are part of `make test`.
"""


def main() -> int:
    """Run the campaigns that are named, or all; return 1 if one of their tries failed."""
    parser = argparse.ArgumentParser(prog="faults", description="Run campaigns of faults; print tries and failures.")
    parser.add_argument("campaigns", nargs="*", metavar="campaign", help=f"{', '.join(CAMPAIGNS)}; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tries", type=int, help="tries per campaign")
    parser.add_argument("--write", type=Path, help="page for the result, if all campaigns are run in full")
    options = parser.parse_args()
    if unknown := set(options.campaigns) - set(CAMPAIGNS):
        parser.error(f"{', '.join(unknown)}: choose from {', '.join(CAMPAIGNS)}")
    preload()
    names = options.campaigns or list(CAMPAIGNS)
    results = {name: run(CAMPAIGNS[name], options.tries, options.seed) for name in names}
    total = summary([one for tries in results.values() for one in tries])
    print(total)
    if options.write and options.tries is None and names == list(CAMPAIGNS):
        parts = [f"## {name.capitalize()}\n\n{CAMPAIGNS[name].claim}\n\n{table(results[name])}\n" for name in names]
        options.write.write_text("\n".join([PAGE, f"The last result, with seed {options.seed}: {total}.\n", *parts]))
    return int(any(one.problem for tries in results.values() for one in tries))


def run(campaign: Campaign, tries: int | None, seed: int) -> list[Try]:
    """Run one campaign; print each failure when it happens, and a table at the end."""
    started, found = time.monotonic(), list[Try]()
    print(f"{campaign.name}: {campaign.claim}", flush=True)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        for one in campaign.run(Path(folder), campaign.tries if tries is None else tries, seed):
            found.append(one)
            if one.problem:
                print(f"- {one.kind}, {one.name}: {one.problem}".encode(errors="replace").decode(), flush=True)
    print(f"\n{table(found)}\n\n{summary(found)} ({time.monotonic() - started:.0f} s)\n", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
