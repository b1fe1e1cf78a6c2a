"""Samplers of the systems that the paper compares with, one per file.

=============== ================================================================== ==============================
neighbour       GraphSAGE: fan-outs, uniform without replacement                   ``LayeredBatch``
fastgcn         FastGCN: independent draws per layer, by importance                ``ImportanceBatch``
asgcn           AS-GCN: draws among the neighbours of the layer above, by scores   ``AdaptiveBatch``
vrgcn           VR-GCN: fan-outs, and complete rows for the history                ``ControlVariateBatch``
clustergcn      ClusterGCN: unions of clusters                                     ``Subgraph``
graphsaint      GraphSAINT: nodes, edges or random walks                           ``Subgraph``
node2vec        Node2Vec: walks with windows                                       ``WalkBatch``
=============== ================================================================== ==============================

All but Node2Vec sample entries of the matrix A that a layer multiplies with, which is passed as a weighted ``CSR``
(``CSR.from_scipy(operator.matrix(graph).to_scipy())``); row i aggregates into node i. Batches are plain numpy arrays:
node ids are int64 and global, ``indptr`` and ``indices`` are int64 and local to the batch, weights are float32.

``sampler.epoch(number)`` iterates over the batches of an epoch. Threads sample whole batches ahead of the consumer, and
each draw is a hash of the seed, the epoch, the number of the batch, and the node or draw: equal seeds give equal
batches with any number of threads.
"""
