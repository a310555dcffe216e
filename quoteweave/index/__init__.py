"""The collection folder: catalogue, images and derived indexes."""
