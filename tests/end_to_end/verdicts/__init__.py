"""Which queries count as slower, by the samples of three kinds of servers."""
