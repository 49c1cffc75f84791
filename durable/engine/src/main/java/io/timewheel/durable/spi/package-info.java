// SPDX-License-Identifier: Apache-2.0

/**
 * Defines the contract of a store. It suits three kinds of stores: an embedded store, a database
 * that many nodes share, and a log. The entry is {@link io.timewheel.durable.spi.TimerStore}.
 *
 * <p>Terms: a <em>record</em> is the stored state of one timer. A <em>change</em> is one
 * conditional step of one record, and its <em>answer</em> tells whether it was applied. The <em>due
 * index</em> orders records by shard, fire time and key. A <em>claim</em> is an attempt that has
 * begun and has no recorded end. An <em>owner</em> is the session that fires a shard; its
 * <em>epoch</em> grows with every owner. {@code spi.record} contains the records and defines the
 * changes for every store, {@code spi.batch} decides batches of them, {@code spi.format} encodes
 * records, and {@code spi.maintenance} copies all timers of a store into another one.
 *
 * <p>All times are milliseconds since 1970, UTC.
 */
@NullMarked
package io.timewheel.durable.spi;

import org.jspecify.annotations.NullMarked;
