"""Values, events and errors that every room speaks in: frozen, standard library only."""
