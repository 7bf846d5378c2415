"""The loop: a question goes to a model, its calls go to the servers, until there is an answer."""
