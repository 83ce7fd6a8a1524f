"""What stands before every route: pure ASGI, one concern a file, laid around the application in `opora.api.app`."""
