"""What all models that run on this machine share: their weights, how they are loaded, batches."""
