"""What is scraped while the tests run."""
