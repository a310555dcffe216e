"""The collection folder: its catalogue, the files beside it, and who may change them."""
