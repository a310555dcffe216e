"""How texts and questions name places of documents: pages, parts and figures, by numbers, ordinals and roles."""
