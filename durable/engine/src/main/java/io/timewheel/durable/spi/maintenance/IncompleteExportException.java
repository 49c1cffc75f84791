// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.maintenance;

import io.timewheel.durable.spi.StoreException;
import java.util.List;

/**
 * Thrown if an export of a damaged store is incomplete. The written part is valid, and a store can
 * import it.
 */
public final class IncompleteExportException extends StoreException {
  private static final long serialVersionUID = 1;

  /** The largest number of texts. */
  public static final int MAX_TEXTS = VerifyReport.MAX_TEXTS;

  /** The number of timers that were written. */
  private final long timers;

  /** The number of timers that could not be read. */
  private final long unread;

  /** The unreadable timers and ranges. */
  private final transient List<String> texts;

  /**
   * Creates the exception.
   *
   * @param message the problem
   * @param timers the number of timers that were written
   * @param unread the number of timers that could not be read
   * @param texts the unreadable timers and ranges
   * @param cause the reason why the first of them could not be read
   */
  public IncompleteExportException(
      String message, long timers, long unread, List<String> texts, Throwable cause) {
    super(Kind.UNAVAILABLE, message, cause);
    this.timers = timers;
    this.unread = unread;
    this.texts = List.copyOf(texts);
  }

  /** {@return the number of timers that were written} */
  public long timers() {
    return timers;
  }

  /** {@return the number of timers that could not be read, by the counters of the store} */
  public long unread() {
    return unread;
  }

  /**
   * {@return the unreadable timers and ranges, each with the reason. A range is given by the timers
   * on either side. At most {@link #MAX_TEXTS}}
   */
  public List<String> texts() {
    return texts;
  }
}
