"""The README of an exported model: five lines that score a batch."""

from sign.prediction.model import TrainedModel
from sign.prediction.settings import Export
from sign.runs import CONFIG

TEXT = """# A model of SIGN

`{file}` takes rows of {columns} float32 values, one per node: side by side the hops {hops},
each with the number of its columns, scaled as `model.json` says. It returns {output}:
one column for each of {classes} {kind}, named there.

Rows of the nodes of a graph, as the model takes them, are written by

```bash
sign predict run=<the folder with {config}> what=hops nodes=test output=rows.npy
```

With `pip install {requires}`, in this folder:

```python
{code}```
"""
ONNX = """\
import json, pathlib, numpy as np, onnxruntime
model = json.loads(pathlib.Path("model.json").read_text())
session = onnxruntime.InferenceSession("{file}")
scores = session.run(None, {{"rows": np.load("rows.npy")}})[0]
{decision}
"""
TORCH = """\
import json, pathlib, numpy as np, torch
model = json.loads(pathlib.Path("model.json").read_text())
network = torch.export.load("{file}").module()  # needs nothing but torch
scores = network(torch.from_numpy(np.load("rows.npy"))).numpy()
{decision}
"""


def readme(model: TrainedModel, request: Export) -> str:
    """What the model takes and returns, and how a batch is scored."""
    template = ONNX if request.format == "onnx" else TORCH
    return TEXT.format(
        file=request.file,
        columns=model.columns,
        hops=", ".join(f"`{hop}` ({columns})" for hop, columns in model.hops.items()),
        output=request.output,
        classes=model.classes,
        kind="labels" if model.multilabel else "classes",
        config=CONFIG,
        requires="numpy onnxruntime" if request.format == "onnx" else "numpy torch",
        code=template.format(file=request.file, decision=_decision(model, request)),
    )


def _decision(model: TrainedModel, request: Export) -> str:
    """The line that turns scores into classes or labels."""
    if model.multilabel:
        probabilities = "scores" if request.output == "probabilities" else "1 / (1 + np.exp(-scores))"
        return f'labels = {probabilities} > np.array(model["thresholds"])'
    numbers = "scores.argmax(axis=1)"
    return f'classes = np.array(model["class_names"])[{numbers}]' if model.class_names else f"classes = {numbers}"
