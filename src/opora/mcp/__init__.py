"""The same documents for assistants: tools by the Model Context Protocol, over standard streams and over HTTP."""
