"""Run campaigns and print tries and failures: ``python -m faults kills graphs --seed 1 --tries 50``."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from faults.campaign import Campaign, Try, table
from faults.configurations import CONFIGURATIONS
from faults.damaged_folders import FOLDERS
from faults.disks import DISKS
from faults.kills import KILLS
from faults.malformed_graphs import GRAPHS
from faults.processes import preload

CAMPAIGNS: dict[str, Campaign] = {campaign.name: campaign for campaign in (KILLS, GRAPHS, CONFIGURATIONS, DISKS, FOLDERS)}


def main() -> int:
    """Run the campaigns that are named, or all; return 1 if one of their tries failed."""
    parser = argparse.ArgumentParser(prog="faults", description="Campaigns of faults: prints tries and failures.")
    parser.add_argument("campaigns", nargs="*", choices=[*CAMPAIGNS, []], help="default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tries", type=int, help="tries per campaign")
    parser.add_argument("--write", type=Path, help="Markdown page for the result")
    options = parser.parse_args()
    preload()
    chosen = [CAMPAIGNS[name] for name in options.campaigns or CAMPAIGNS]
    results = {campaign: run(campaign, options.tries, options.seed) for campaign in chosen}
    return int(any(one.problem for tries in results.values() for one in tries))


def run(campaign: Campaign, tries: int | None, seed: int) -> list[Try]:
    """Run one campaign; print each failure when it happens, and a table at the end."""
    started, found = time.monotonic(), list[Try]()
    print(f"## {campaign.name}\n\n{campaign.claim}\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        for one in campaign.run(Path(folder), campaign.tries if tries is None else tries, seed):
            found.append(one)
            if one.problem:
                print(f"- {one.kind}, {one.name}: {one.problem}", flush=True)
    print(f"\n{table(found)}\n\n{time.monotonic() - started:.0f} s\n", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
