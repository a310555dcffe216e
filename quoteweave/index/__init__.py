"""Indexes over the quotes of a collection: lexical, and of vectors in FAISS, Milvus or by MaxSim."""
