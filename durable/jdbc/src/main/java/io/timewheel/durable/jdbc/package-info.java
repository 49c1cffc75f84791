// SPDX-License-Identifier: Apache-2.0

/**
 * The store of durable timers in a database that any number of nodes share.
 *
 * <p>The vocabulary, beside that of {@link io.timewheel.durable.spi}. A <em>node</em> is an open
 * session that was started; its <em>lease</em> is how long it may hold its shards, by the clock of
 * the database. A <em>group</em> is what one transaction commits: the changes of many callers and
 * of the owner. The <em>fence</em> is the comparison of epochs at the end of a group. The
 * <em>history</em> holds finished timers until they are forgotten. A <em>transaction of the
 * user</em> is one that has work of his own in it: {@link
 * io.timewheel.durable.jdbc.TransactionTimers}. ADR 0011 says how these go together.
 */
@NullMarked
package io.timewheel.durable.jdbc;

import org.jspecify.annotations.NullMarked;
