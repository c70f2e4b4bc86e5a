"""The experiments of the CO2 Forest paper with this library; `make paper` runs them."""
