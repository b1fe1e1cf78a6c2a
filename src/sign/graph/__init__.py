"""What a graph is: adjacency in CSR form, features, labels and splits."""
