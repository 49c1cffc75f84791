// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.text.MessageFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Captures the log of durable timers during a test, from a level on. Other handlers do not get it.
 */
final class LogLines extends Handler implements BeforeEachCallback, AfterEachCallback {
  private static final Logger LOGGER = Logger.getLogger(DurableTimer.class.getName());

  private Level from;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private Level levelBefore;

  LogLines(Level from) {
    this.from = from;
  }

  /** Sets another level. */
  void from(Level level) {
    from = level;
    LOGGER.setLevel(level);
  }

  /** Returns the lines so far, oldest first. */
  List<String> lines() {
    return lines;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    levelBefore = LOGGER.getLevel();
    LOGGER.setLevel(Level.INFO); // a simulation may have silenced it
    LOGGER.addHandler(this);
    LOGGER.setUseParentHandlers(false);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    LOGGER.removeHandler(this);
    LOGGER.setUseParentHandlers(true);
    LOGGER.setLevel(levelBefore);
  }

  @Override
  public void publish(LogRecord record) {
    if (record.getLevel().intValue() >= from.intValue()) {
      Object[] parameters = record.getParameters();
      String text =
          parameters == null
              ? record.getMessage()
              : MessageFormat.format(record.getMessage(), parameters);
      lines.add(text + (record.getThrown() == null ? "" : ": " + record.getThrown()));
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
