"""What a tool and a pack are: checks arguments, renders declarations, searches, checks a script before it runs."""
