"""Work on a slow schedule, and how it shares the connection with the scrapes."""
