"""Sets citations in drafts: their sentences, marks, references and BibTeX entries."""
