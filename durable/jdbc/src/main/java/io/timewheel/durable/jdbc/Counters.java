// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.spi.DueTimer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/** Numbers that the parts of a store count. */
final class Counters {
  final LongAdder shardsReceived = new LongAdder();
  final LongAdder shardsTakenOver = new LongAdder();
  final LongAdder shardsGiven = new LongAdder();
  final LongAdder leasesLost = new LongAdder();
  final LongAdder fenceRefusals = new LongAdder();
  final Sweeps sweeps = new Sweeps();
  final Sweeps fullSweeps = new Sweeps();
  final LongAdder hintsSent = new LongAdder();
  final LongAdder hintsReceived = new LongAdder();
  final LongAdder lostAnswersCommitted = new LongAdder();
  final LongAdder lostAnswersAborted = new LongAdder();
  final LongAdder lostAnswersUnknown = new LongAdder();

  private final LongAdder connectionWaits = new LongAdder();
  private final LongAdder connectionWaitNanos = new LongAdder();
  private final LongSupplier nanoTime;

  Counters(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Takes a connection, and counts the wait for it. */
  Connection connection(DataSource source) throws SQLException {
    long askedNanos = nanoTime.getAsLong();
    try {
      return source.getConnection();
    } finally {
      connectionWaits.increment();
      connectionWaitNanos.add(nanoTime.getAsLong() - askedNanos);
    }
  }

  /** Reads of one kind. */
  final class Sweeps {
    private final LongAdder count = new LongAdder();
    private final LongAdder timers = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /** A read of what is due. */
    interface Read {
      List<DueTimer> run() throws SQLException;
    }

    /** Reads, and counts that. */
    List<DueTimer> read(Read read) throws SQLException {
      long beganNanos = nanoTime.getAsLong();
      try {
        List<DueTimer> due = read.run();
        timers.add(due.size());
        return due;
      } finally {
        count.increment();
        nanos.add(nanoTime.getAsLong() - beganNanos);
      }
    }

    /** {@return how many statements, those included that failed} */
    long count() {
      return count.sum();
    }

    /** {@return how many timers they found} */
    long timers() {
      return timers.sum();
    }

    /** {@return how long they took, without the wait for a connection} */
    long nanos() {
      return nanos.sum();
    }
  }

  /** {@return how often the pool was asked for a connection} */
  long connectionWaits() {
    return connectionWaits.sum();
  }

  /** {@return how long it took to get connections, or to be refused them} */
  long connectionWaitNanos() {
    return connectionWaitNanos.sum();
  }
}
