"""Overrides that a mistaken or hostile user types, each with what must happen; ``{box}`` is the sandbox."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Must = Literal["run", "refuse", "either"]
EXECUTED = "executed"  # the folder that hostile code would create


@dataclass(frozen=True)
class Case:
    """Arguments of a program, and whether it must run, be refused, or either of them."""

    kind: str
    arguments: tuple[str, ...]
    must: Must = "either"
    program: str = "train"


def cases() -> Iterator[Case]:
    """List those that are written by hand."""
    for (kind, must), lines in LISTED.items():
        for line in lines:
            yield Case(kind, (line,) if isinstance(line, str) else line, must)
    for section in SECTIONS:
        for line in (f"{section}=null", f"{section}=1", f"~{section}"):
            yield Case("sections", (line,), "refuse")
    for section in ("dataset", "engine", "logger", "smoothing", "model.operators.p"):
        for line in HOSTILE:
            prefix, _, rest = line.partition("SECTION")
            yield Case("hostile classes", (f"{prefix}{section}{rest}",), "refuse")
    for name in ("model.title", "model.name", "dataset.name", "group"):
        for text in MARKUP:
            yield Case("markup and control characters", (f"{name}='{text}'",))
    for program, lines in PROGRAMS.items():
        for line in lines:
            yield Case("other programs", tuple(line.split()), "refuse", program)


# fmt: off
SECTIONS = ("dataset", "model", "engine", "trainer", "logger", "paths", "training", "smoothing")
HOSTILE = (
    "SECTION._target_=os.mkdir", "SECTION._target_=subprocess.Popen", "SECTION._target_=builtins.eval",
    "SECTION._target_=builtins.exec", "SECTION._target_=shutil.rmtree", "SECTION._target_=sign.cli.run",
    "SECTION._target_=pathlib.Path", "SECTION._target_=null", "++SECTION._partial_=true",
    f"++SECTION._args_=[{EXECUTED}]", f"+SECTION.extra={{_target_: os.mkdir, path: {EXECUTED}}}",
)
MARKUP = (
    "[/]", "[bold]x[/bold]", "[red", ":smile:", "<script>alert(1)</script>", "\x1b[31mred\x1b]0;title\x07", "a\nb",
    "a\rb", "\u202ex", "漢字 ü 😀", "{{x}}", "%s %d", "a\tb", "`x`", "| a | b |",
)
LISTED: dict[tuple[str, Must], list[str | tuple[str, ...]]] = {
    ("choices", "refuse"): [
        "dataset=corra", "model=gat", "engine=locall", "trainer=tpu", "logger=wanbd", "paths=other", "dataset=../x",
        "tuned=cora_sgin", "experiment=flickr_sign_41", "hparams_search=tpe", "operator@model.operators.p=adjacensy",
        ("-m", "hparams_search=tep"), ("-m", "experiment=nope"), "dataset=/etc/passwd", "dataset=COMMUNITIES",
        "dataset=[communities,cora]", "dataset=", "model=sign,gcn", "+dataset=cora", "tuned=''", "experiment=1",
    ],
    ("choices", "run"): [
        "tuned=null", "~tuned", "experiment=null", "model=sgcn", "model=mlp", "trainer=cpu", "engine=torch",
        "operator@model.operators.p=heat", ("-m", "model.p=0,1"),
    ],
    ("sections", "refuse"): [
        "store=null", "scaling=null", "store=[]", "scaling='x'", "model.operators=null", "model.operators=[]",
        "model.operators.p=null", "model.operators.p=1", "~model.operators", "~model.p", "~seed", "training=[1]",
    ],
    ("names of settings", "refuse"): [
        "model.dropuot=0.5", "trainng.max_epochs=1", "seeed=1", "+model.x=1", "+new=1", "++training.learning_rates=1",
        "model.p.q=1", "training.=1", ".training=1", "model.operators.x.y=1", "+dataset.nodse=1", "MODEL.P=1",
        "~model.dropuot", "dataset.path=x", "+model.operators.p.power=3", "+trainer.gpus=8", "store.rot=x",
    ],
    ("flags", "refuse"): [
        ("-p", "4"), "--p=4", "--frobnicate", "-x", "--epochs=3", ("--config-name", "nope"), ("--config-dir", "nope"),
        ("--config-path", "nope"), "-", ("-c", "nope"),
    ],
    ("syntax", "refuse"): [
        "=1", "model.p", "model..p=1", "model.p=[", "model.p={", "model.p='", "a b", "model.p=1,2", "model.p==1",
        "model.p=1 2", "model p=1", "{}", "[]", "~", "+", "++", "@", "model@p=1", "model.p=choice(1,2)", "",
        "model.title=\udcff", "model.p=glob(*)", "(" * 300, "model.title=" + "[" * 2000, "model.p=" + "{a:" * 500,
    ],
    ("interpolations", "refuse"): [
        "seed=${seed}", "seed=${nope}", "model.p=${nope.x}", "seed=${oc.env:NOPE}", "seed=${nope:1}", "seed=${",
        "model.p=${model}", "training=${training}", "model.title=${model.title}", "paths.output_dir=${oc.env:NOPE}",
        "seed=${oc.decode:nope(}", "dataset.nodes=${dataset.edges}${dataset.edges}", "model.p=???", "seed=???",
    ],
    ("interpolations", "run"): [
        "seed=${model.p}", "model.s=${seed}", "model.title=${oc.env:HOME}", "model.title=${now:%Y}",
        "dataset.seed=${seed}",
    ],
    ("paths in names", "refuse"): [
        "model.name=../../x", "dataset.name=../../x", "model.name={box}/x", "dataset.name={box}/x", "model.name=..",
        "dataset.name=..", "dataset.name=.", "model.name=.", "model.name=''", "dataset.name=''", "model.name=a/b",
        "dataset.name=a/b", "model.name=" + "x" * 300, "dataset.name=" + "x" * 300, "model.name=5",
        ("-m", "hparams_search=tpe", "search.study=../../x"), ("-m", "hparams_search=tpe", "search.study='a/b'"),
        "ckpt_path=nope", "ckpt_path=.", "ckpt_path=/dev/null", "ckpt_path=/dev/zero", "ckpt_path={box}", "ckpt_path=1",
        ("dataset=custom", "dataset.path=nope"), ("dataset=custom", "dataset.path=/dev/zero"), "dataset=custom",
        ("dataset=pack", "dataset.path=nope"), "paths.output_dir=/proc/x", "paths.store_dir=/dev/null/x",
        "paths.output_dir=''", "paths.store_dir=null", "paths.output_dir=[a]", "paths.store_dir=5",
    ],
    ("paths in names", "either"): [
        "group=../../x", "model.title=../../x", "dataset.name=~", "model.name='a b'", "model.name=-rf",
        "dataset.name=con", "model.name=.hidden", "dataset.name='*'", "model.name='$(touch x)'", "dataset.name='a;b'",
        "job_type=../x",
    ],
}
PROGRAMS = {
    "report": [
        "folders=[]", "folders=null", "folders=nope", "folders=[nope]", "folders=[[.]]", "output=null",
        "output=/proc/x", "outputt=x",
    ],
    "store": [
        "action=nope", "action=null", "action=export", "action=export path=/proc/x", "action=export path=''",
        "action=prune unused_days=-1", "action=prune unused_days=nan", "action=prune unused_days=x",
        "action=prune damaged=1", "dry_run=maybe", "action=list paths=null", "action=list paths.store_dir=null",
    ],
    "precompute": ["model.p=-1", "store.dtype=int8", "model.p=99999999999999999999", "dataset=null"],
}
# values for every setting
VALUES = [
    "null", "true", "-1", "0", "1.5", "nan", "inf", "-inf", "1e400", "1e-400", "99999999999999999999", "''", "abc",
    "[]", "{}", "[1,2]", "{a: 1}", "'1'", "0x10", "1_000", "2147483648", "9223372036854775808", "'null'", "'[/]'",
    "'ü漢😀'", "'\x1b[31m'", "${nope}", "???", "'a,b'", "'" + "x" * 5000 + "'", "1e3", "-0.0",
]
UNUSED = ("search.", "hydra.", "paths.", "store.root", "engine.threads", "trainer.devices", "trainer.num_nodes")
# fmt: on
