# SIGN with its tested set of dependencies, on the CPU; with a CUDA image of Python 3.11 or later as BASE, on GPUs:
#   docker build -t sign .
#   docker run --rm -v "$PWD/outputs:/sign/outputs" -v "$PWD/store:/sign/store" sign dataset=cora logger=csv
ARG BASE=python:3.12-slim
FROM ${BASE}

WORKDIR /sign
# the dependencies first: they stay cached while the source changes
COPY pyproject.toml requirements.lock README.md ./
COPY src/sign/__init__.py src/sign/__init__.py
RUN pip install --no-cache-dir -c requirements.lock -e '.[onnx,baselines]'
COPY . .
ENTRYPOINT ["python", "src/train.py"]
CMD ["dataset=cora", "logger=csv"]
