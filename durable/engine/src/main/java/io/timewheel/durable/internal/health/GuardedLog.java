// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * The log of the engine. If an appender of the application throws, the line is lost, without any
 * other effect.
 */
public final class GuardedLog implements System.Logger {
  public static final System.Logger LOG =
      new GuardedLog(System.getLogger("io.timewheel.durable.DurableTimer"));

  private final System.Logger log;

  private GuardedLog(System.Logger log) {
    this.log = log;
  }

  @Override
  public String getName() {
    return log.getName();
  }

  @Override
  public boolean isLoggable(Level level) {
    try {
      return log.isLoggable(level);
    } catch (Throwable e) {
      return false;
    }
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String message,
      @Nullable Throwable thrown) {
    try {
      log.log(level, bundle, message, thrown);
    } catch (Throwable e) {
      // a failure of the log cannot be logged
    }
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String format,
      @Nullable Object @Nullable ... parameters) {
    try {
      log.log(level, bundle, format, parameters);
    } catch (Throwable e) {
      // a failure of the log cannot be logged
    }
  }
}
