// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.transaction;

import io.timewheel.durable.spi.DueTimer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/** Numbers that the parts of a store count. */
public final class Counters {
  public final LongAdder shardsReceived = new LongAdder();
  public final LongAdder shardsTakenOver = new LongAdder();
  public final LongAdder shardsGiven = new LongAdder();
  public final LongAdder leasesLost = new LongAdder();
  public final LongAdder fenceRefusals = new LongAdder();
  public final Sweeps sweeps = new Sweeps();
  public final Sweeps fullSweeps = new Sweeps();
  public final LongAdder hintsSent = new LongAdder();
  public final LongAdder hintsReceived = new LongAdder();
  public final LongAdder lostAnswersCommitted = new LongAdder();
  public final LongAdder lostAnswersAborted = new LongAdder();
  public final LongAdder lostAnswersUnknown = new LongAdder();

  private final LongAdder connectionWaits = new LongAdder();
  private final LongAdder connectionWaitNanos = new LongAdder();
  private final LongSupplier nanoTime;

  public Counters(LongSupplier nanoTime) {
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
  public final class Sweeps {
    private final LongAdder count = new LongAdder();
    private final LongAdder timers = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /** A read of due timers. */
    public interface Read {
      List<DueTimer> run() throws SQLException;
    }

    /** Reads, and counts that. */
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

    /** {@return how many statements, those included that failed} */
    public long count() {
      return count.sum();
    }

    /** {@return how many timers they found} */
    public long timers() {
      return timers.sum();
    }

    /** {@return how long they took, without the wait for a connection} */
    public long nanos() {
      return nanos.sum();
    }
  }

  /** {@return how often the pool was asked for a connection} */
  public long connectionWaits() {
    return connectionWaits.sum();
  }

  /** {@return how long it took to get connections, or to be refused them} */
  public long connectionWaitNanos() {
    return connectionWaitNanos.sum();
  }
}
