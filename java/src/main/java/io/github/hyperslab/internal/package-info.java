/**
 * How the native library is found and called. No part of the API: names may change in any release.
 */
package io.github.hyperslab.internal;
