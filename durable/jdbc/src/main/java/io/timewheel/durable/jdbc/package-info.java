// SPDX-License-Identifier: Apache-2.0

/**
 * Stores durable timers in a database that any number of nodes share. The entry is {@link
 * io.timewheel.durable.jdbc.JdbcTimerStore}, which opens the database and delegates each call.
 * {@link io.timewheel.durable.jdbc.TransactionTimers} schedules timers and runs handlers in
 * transactions of users.
 *
 * <p>The terms, in addition to those of {@link io.timewheel.durable.spi}: A <em>node</em> is an
 * open session that was started. Its <em>node lease</em> is the time for which it may hold its
 * shards, by the clock of the database. A <em>write batch</em> contains the changes of many callers
 * and of the owner; one transaction commits it. The <em>fence</em> is the comparison of epochs at
 * the end of a write batch. The <em>history</em> contains finished timers until they are purged. A
 * <em>transaction of the user</em> contains work of the user. A <em>notification</em> is a message
 * from one node to the others, for example about a timer that is due soon. ADR 0011 describes how
 * these work together.
 *
 * <p>The packages, in reading order; each depends only on those before it:
 *
 * <ol>
 *   <li>{@code internal.sql}: statements on one connection
 *   <li>{@code internal.rows}: timers and nodes as columns of rows
 *   <li>{@code internal.server}: the parts in which database servers differ
 *   <li>{@code internal.transaction}: transactions on connections of the pool
 *   <li>{@code internal.schema}: the tables and their formats
 *   <li>{@code internal.read}: due timers, lists and numbers
 *   <li>{@code internal.notifications}: notifications between nodes
 *   <li>{@code internal.write}: write batches and claims
 *   <li>{@code internal.ownership}: node leases, shards and pauses
 *   <li>{@code internal.maintenance}: purge, verification, repair and copies of the tables
 *   <li>{@code internal.handler}: transactions that contain work of users
 *   <li>{@code internal.postgresql} and {@code internal.mariadb}: the two servers, which only the
 *       builder refers to
 * </ol>
 */
@NullMarked
package io.timewheel.durable.jdbc;

import org.jspecify.annotations.NullMarked;
