"""How texts and questions name places in documents: pages, parts and figures, by numbers, ordinals and roles."""
