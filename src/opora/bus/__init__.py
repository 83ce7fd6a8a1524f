"""Messages between processes over NATS: requests with replies, and waking workers. Nothing here is the truth."""
