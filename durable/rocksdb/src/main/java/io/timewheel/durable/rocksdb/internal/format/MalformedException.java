// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.format;

/** Bytes that are not what they ought to be. Whoever knows their key says whose they are. */
public final class MalformedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public MalformedException(String message) {
    super(message);
  }
}
