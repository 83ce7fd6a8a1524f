"""Measures retrieval and answering on datasets with known answers, and gates a change by the figures."""
