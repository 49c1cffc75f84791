// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

/**
 * SQL expressions that differ between servers.
 *
 * @param nowMillis the current time of the database in milliseconds
 * @param forShare makes a SELECT lock its rows, so that others can lock them too, but not write
 * @param nextIncarnation the number of the next node
 */
public record Expressions(String nowMillis, String forShare, String nextIncarnation) {}
