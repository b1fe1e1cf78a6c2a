"""Checkpoint ▶ predictions, embeddings, exported models."""
