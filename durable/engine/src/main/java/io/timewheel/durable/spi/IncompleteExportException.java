// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import java.util.List;

/**
 * An export has all that could be read of a damaged store, and not all that was in it. What it has
 * written is whole in itself: a store imports it.
 */
public final class IncompleteExportException extends StoreException {
  private static final long serialVersionUID = 1;

  /** How many of the texts are told one by one. */
  public static final int MAX_TEXTS = VerifyReport.MAX_TEXTS;

  /** How many timers were written. */
  private final long timers;

  /** How many were not. */
  private final long unread;

  /** What could not be read. */
  private final transient List<String> texts;

  /**
   * Makes the exception.
   *
   * @param message what happened
   * @param timers how many timers were written
   * @param unread how many were not
   * @param texts what could not be read
   * @param cause why the first of it could not be read
   */
  public IncompleteExportException(
      String message, long timers, long unread, List<String> texts, Throwable cause) {
    super(Kind.UNAVAILABLE, message, cause);
    this.timers = timers;
    this.unread = unread;
    this.texts = List.copyOf(texts);
  }

  /** {@return how many timers were written} */
  public long timers() {
    return timers;
  }

  /** {@return how many were not, by the counters of the store} */
  public long unread() {
    return unread;
  }

  /**
   * {@return what could not be read, and why: single timers, and ranges by the timers on either
   * side; at most {@link #MAX_TEXTS}}
   */
  public List<String> texts() {
    return texts;
  }
}
