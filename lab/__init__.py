"""The lab: from a scenario file to a verdict. It drives `engine` and never reaches into it."""
