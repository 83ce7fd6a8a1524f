"""Pages that the server writes itself: they need no JavaScript."""
