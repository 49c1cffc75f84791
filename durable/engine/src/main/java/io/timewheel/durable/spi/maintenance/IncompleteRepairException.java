// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.maintenance;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.StoreException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a repair has fixed some problems and left others that it can fix, because other
 * transactions hold their rows or the store failed. Run the repair again.
 */
public final class IncompleteRepairException extends StoreException {
  private static final long serialVersionUID = 1;

  /** The problems that were fixed. */
  private final transient VerifyReport repaired;

  /** The problems of rows that other transactions hold. */
  private final transient List<String> held;

  /**
   * Creates the exception.
   *
   * @param kind the kind of the failure; TRANSIENT if rows are held
   * @param message the cause and the remedy
   * @param repaired the problems that were fixed
   * @param held the problems of rows that other transactions hold; at most {@link
   *     VerifyReport#MAX_TEXTS}
   * @param cause the failure of the store; null if rows are held
   */
  public IncompleteRepairException(
      Kind kind,
      String message,
      VerifyReport repaired,
      List<String> held,
      @Nullable Throwable cause) {
    super(kind, message, cause);
    this.repaired = requireNonNull(repaired, "repaired");
    this.held = List.copyOf(held);
  }

  /** {@return the problems that were fixed} */
  public VerifyReport repaired() {
    return repaired;
  }

  /**
   * {@return the problems that were left because other transactions hold their rows; at most {@link
   * VerifyReport#MAX_TEXTS}}
   */
  public List<String> held() {
    return held;
  }
}
