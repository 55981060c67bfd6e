"""The service: campaigns over HTTP, and a page to watch them."""
