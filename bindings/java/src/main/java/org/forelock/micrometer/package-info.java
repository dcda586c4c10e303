/** For applications with Micrometer, which nothing else here needs. */
package org.forelock.micrometer;
