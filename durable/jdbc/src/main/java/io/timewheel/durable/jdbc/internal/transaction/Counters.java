// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.transaction;

import io.timewheel.durable.spi.record.DueTimer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/** Counts the operations of a store. */
public final class Counters {
  public final LongAdder shardsReceived = new LongAdder();
  public final LongAdder shardsTakenOver = new LongAdder();
  public final LongAdder shardsGiven = new LongAdder();
  public final LongAdder leasesLost = new LongAdder();
  public final LongAdder fenceRefusals = new LongAdder();
  public final Sweeps sweeps = new Sweeps();
  public final Sweeps fullSweeps = new Sweeps();
  public final LongAdder notificationsSent = new LongAdder();
  public final LongAdder notificationsReceived = new LongAdder();
  public final LongAdder lostAnswersCommitted = new LongAdder();
  public final LongAdder lostAnswersAborted = new LongAdder();
  public final LongAdder lostAnswersUnknown = new LongAdder();

  private final LongAdder connectionWaits = new LongAdder();
  private final LongAdder connectionWaitNanos = new LongAdder();
  private final LongSupplier nanoTime;

  public Counters(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Takes a connection, and measures the wait for it. */
  Connection connection(DataSource source) throws SQLException {
    long askedNanos = nanoTime.getAsLong();
    try {
      return source.getConnection();
    } finally {
      connectionWaits.increment();
      connectionWaitNanos.add(nanoTime.getAsLong() - askedNanos);
    }
  }

  /** Counts reads of one kind. */
  public final class Sweeps {
    private final LongAdder count = new LongAdder();
    private final LongAdder timers = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /** A read of due timers. */
    public interface Read {
      List<DueTimer> run() throws SQLException;
    }

    /** Reads, and counts the read. */
    public List<DueTimer> read(Read read) throws SQLException {
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

    /** {@return the number of statements, including failed ones} */
    public long count() {
      return count.sum();
    }

    /** {@return the number of timers found} */
    public long timers() {
      return timers.sum();
    }

    /** {@return the total duration in nanoseconds, without the wait for a connection} */
    public long nanos() {
      return nanos.sum();
    }
  }

  /** {@return the number of times that the pool was asked for a connection} */
  public long connectionWaits() {
    return connectionWaits.sum();
  }

  /** {@return the total wait for connections in nanoseconds, including failed waits} */
  public long connectionWaitNanos() {
    return connectionWaitNanos.sum();
  }
}
