"""The loop: real servers, a scripted model over real HTTP."""
