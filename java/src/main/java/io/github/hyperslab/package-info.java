/**
 * HDF5 files in parallel, with jHDF's names.
 *
 * <p>A program that reads with jHDF changes its imports: {@code io.jhdf} becomes {@code
 * io.github.hyperslab}. See {@link io.github.hyperslab.HdfFile}.
 */
package io.github.hyperslab;
