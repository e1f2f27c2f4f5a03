"""The configuration of libhdf5's cache of metadata. hyperslab keeps it, and does not use it."""


class CacheConfig:
    """The fields of `H5AC_cache_config_t`, with the defaults of HDF5 2.0."""

    def __init__(self) -> None:
        self.version = 1
        self.rpt_fcn_enabled = False
        self.evictions_enabled = True
        self.set_initial_size = True
        self.initial_size = 2097152
        self.min_clean_fraction = 0.3
        self.max_size = 33554432
        self.min_size = 1048576
        self.epoch_length = 50000
        self.incr_mode = 1
        self.lower_hr_threshold = 0.9
        self.increment = 2.0
        self.apply_max_increment = True
        self.max_increment = 4194304
        self.flash_incr_mode = 1
        self.flash_multiple = 1.0
        self.flash_threshold = 0.25
        self.decr_mode = 3
        self.upper_hr_threshold = 0.999
        self.decrements = 0.9
        self.apply_max_decrement = True
        self.max_decrement = 1048576
        self.epochs_before_eviction = 3
        self.apply_empty_reserve = True
        self.empty_reserve = 0.1
        self.dirty_bytes_threshold = 262144
