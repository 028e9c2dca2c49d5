"""What is known of a server → metric families → the text of a page."""
