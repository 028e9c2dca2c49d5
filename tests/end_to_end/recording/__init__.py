"""An hour in the life of several servers, recorded once for all tests of a run."""
