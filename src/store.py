"""Look after the store: ``python src/store.py action=list``; ``--help`` shows the other actions."""

from pathlib import Path

from omegaconf import DictConfig

from sign.cli import run
from sign.config.configure import configure
from sign.requests import store_request, training_words


def main(cfg: DictConfig) -> None:
    """List, verify, prune, or export the hops of one configuration."""
    request = store_request(cfg)
    if request.action == "export":
        settings = configure(cfg)
        from sign.diffusion.export import check_folder, export

        check_folder(request.folder)
        source = settings.precomputation
        size = export(source, *source.run(), request.folder)
        print(f"{size / 1e6:.1f} MB in {request.folder}; to train on it, on any machine:")
        print(f"python src/train.py dataset=pack dataset.path={request.folder} {training_words(settings)}")
        return
    from sign.store import maintenance

    root = Path(request.root)
    if not root.is_dir():
        print(f"{root}: there is no store yet; src/precompute.py fills one")
        return
    if request.action == "list":
        maintenance.show(root)
    elif request.action == "verify":
        maintenance.verify(root)
    else:
        maintenance.prune(root, request.unused_days, request.damaged, request.dry_run)


if __name__ == "__main__":
    run(main, "store")
