/** Meters for applications with Micrometer, which the rest of the module does not need. */
package org.forelock.micrometer;
