"""What a person gave the evaluator, right or wrong."""
