"""A report of scored runs for people who were not there: tables, plots and single questions, as HTML, Markdown, CSV."""
