/** Other properties of datasets and attributes that the format keeps in messages. */
package io.github.hyperslab.object.message;
