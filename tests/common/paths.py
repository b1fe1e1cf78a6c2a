"""The checkout, and real data beside it."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
# where real files in PyG's layout may lie: in the checkout, or beside it
PLACES = (REPOSITORY / "data", REPOSITORY.parent / "shared" / "data")
REAL_DATA = next((folder for folder in PLACES if folder.is_dir()), PLACES[0])
