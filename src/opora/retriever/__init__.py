"""The retriever service: pieces of documents for an application that answers by itself."""
