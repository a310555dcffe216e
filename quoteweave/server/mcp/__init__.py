"""The tools that language models call over the Model Context Protocol: search, fetch, ask and read_page."""
