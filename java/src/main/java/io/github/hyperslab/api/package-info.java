/** What a file consists of: groups, datasets, attributes and links. */
package io.github.hyperslab.api;
