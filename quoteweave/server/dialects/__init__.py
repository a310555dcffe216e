"""The APIs of others, in which this server answers too: requests read and answers written in their form."""
