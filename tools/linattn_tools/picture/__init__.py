"""The lattice of reductions as a picture: a graph in layers, general variants above special ones."""
