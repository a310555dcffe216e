"""The gate: checks by rule, and by a checker model where one is given, whether cited quotes support an answer."""
