/** The exceptions of the library, all of them unchecked. */
package io.github.hyperslab.exceptions;
