"""Jobs: processes beside the server that add and remove documents and build indexes, one a collection at a time."""
