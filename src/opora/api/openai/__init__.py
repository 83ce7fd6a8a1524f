"""The doors under `/v1`, in the shapes that clients of OpenAI's API know."""

from opora.api.openai import chat as chat
from opora.api.openai import vectors as vectors
