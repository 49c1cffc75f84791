// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.record.TimerRecord;
import org.jspecify.annotations.Nullable;

/**
 * A timer on its way from one store to another.
 *
 * @param record its record
 * @param payloadHash identifies the payload of a finished timer that its store no longer has:
 *     SHA-256 in hexadecimal digits. Null if the record has the payload, or if there was none
 */
public record CopiedTimer(TimerRecord record, @Nullable String payloadHash) {

  /**
   * Checks that there is a record.
   *
   * @param record its record
   * @param payloadHash identifies the payload of a finished timer that its store no longer has:
   *     SHA-256 in hexadecimal digits. Null if the record has the payload, or if there was none
   */
  public CopiedTimer {
    requireNonNull(record, "record");
  }

  /**
   * Tests whether this timer replaces a record of the same key.
   *
   * @param present the stored record; null if there is none
   * @return true if there is none, or an older one: by version, then by revision
   */
  public boolean isNewerThan(@Nullable TimerRecord present) {
    if (present == null) {
      return true;
    }
    return record.version() != present.version()
        ? record.version() > present.version()
        : record.revision() > present.revision();
  }
}
