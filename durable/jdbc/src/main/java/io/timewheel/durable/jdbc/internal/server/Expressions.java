// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

/**
 * Expressions that differ from server to server.
 *
 * @param nowMillis the time of the database in milliseconds, as it passes
 * @param forShare makes a SELECT lock its rows: others can do so too, but cannot write
 * @param nextIncarnation the number of the next node
 */
public record Expressions(String nowMillis, String forShare, String nextIncarnation) {}
