/** The filters of chunked datasets. */
package io.github.hyperslab.filter;
