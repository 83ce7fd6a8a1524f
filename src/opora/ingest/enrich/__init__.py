"""What a chat model adds to a document: which text it is shown, and what of its replies is believed."""
