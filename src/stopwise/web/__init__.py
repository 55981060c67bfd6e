"""The service: campaigns over HTTP, and a page that shows them."""
