"""Fakes and a scripted model server, for these tests and for authors of extensions."""
