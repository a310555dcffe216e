"""APIs of other systems that this server offers too: reads requests and writes answers in their forms."""
