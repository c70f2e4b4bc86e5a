"""The paper's experiment on faces with this library; `make faces` runs it."""
