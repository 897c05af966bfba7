"""From a YAML file to a frozen `Scenario`, or to one line that says what is wrong with it."""
