// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Captures the log of {@code io.timewheel} while it is open, and keeps it off the console. */
final class LogCapture extends Handler implements AutoCloseable {
  private final Logger logger = Logger.getLogger("io.timewheel");
  private final Queue<LogRecord> records = new ConcurrentLinkedQueue<>();
  private final Consumer<LogRecord> then;

  LogCapture() {
    this(entry -> {});
  }

  /** Captures the log, and calls a consumer for each record. */
  LogCapture(Consumer<LogRecord> then) {
    this.then = then;
    logger.setUseParentHandlers(false);
    logger.addHandler(this);
  }

  @Override
  public void publish(LogRecord entry) {
    records.add(entry);
    then.accept(entry);
  }

  /** Returns level and text of every record. */
  List<String> lines() {
    SimpleFormatter formatter = new SimpleFormatter();
    return records.stream()
        .map(entry -> entry.getLevel() + ": " + formatter.formatMessage(entry))
        .toList();
  }

  /** Returns the throwable of every record, null where there is none. */
  List<Throwable> thrown() {
    return records.stream().map(LogRecord::getThrown).toList();
  }

  boolean has(Level level) {
    return records.stream().anyMatch(entry -> entry.getLevel().equals(level));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setUseParentHandlers(true);
  }
}
