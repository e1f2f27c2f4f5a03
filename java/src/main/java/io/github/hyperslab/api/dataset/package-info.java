/** What datasets of single layouts have beside what all datasets have. */
package io.github.hyperslab.api.dataset;
