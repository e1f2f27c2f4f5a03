/** Links that name their target by a path. */
package io.github.hyperslab.links;
