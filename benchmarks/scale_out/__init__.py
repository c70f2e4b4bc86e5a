"""What a forest on Dask costs above its trees, and what a large one would cost."""
