// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

/** Thrown if bytes are not in the expected format. The caller adds the key of the entry. */
public final class MalformedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public MalformedException(String message) {
    super(message);
  }
}
