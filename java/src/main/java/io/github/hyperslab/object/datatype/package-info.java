/** The datatypes of HDF5, as the format's datatype message describes them. */
package io.github.hyperslab.object.datatype;
