"""Write a report of scored runs as HTML, Markdown and CSV, with tables, plots and example questions."""
