"""h5py's buffers between Python objects and libhdf5. hyperslab has none."""
