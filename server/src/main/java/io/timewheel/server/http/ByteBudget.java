// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.security.Caller;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits the memory of bodies or of answers. If there are tokens, each caller may use half of it.
 * Thread-safe.
 */
final class ByteBudget {
  private final long maxBytes;
  private final Map<String, Long> byCaller = new HashMap<>();
  private long total;

  ByteBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  long maxBytes() {
    return maxBytes;
  }

  Reservation of(Caller caller) {
    return new Reservation(caller);
  }

  private synchronized boolean add(Caller caller, long bytes) {
    long ofCaller = byCaller.getOrDefault(caller.name(), 0L) + bytes;
    long limit = caller.equals(Caller.LOCAL) ? maxBytes : maxBytes / 2;
    if (total + bytes > maxBytes || ofCaller > limit) {
      return false;
    }
    put(caller, ofCaller);
    total += bytes;
    return true;
  }

  private synchronized void subtract(Caller caller, long bytes) {
    put(caller, byCaller.getOrDefault(caller.name(), 0L) - bytes);
    total -= bytes;
  }

  private void put(Caller caller, long bytes) {
    if (bytes == 0) {
      byCaller.remove(caller.name());
    } else {
      byCaller.put(caller.name(), bytes);
    }
  }

  /** The bytes of one body or one answer. Thread-safe. */
  final class Reservation {
    private final Caller caller;
    private long bytes;

    private Reservation(Caller caller) {
      this.caller = caller;
    }

    /** {@return false if there is no memory for the additional bytes; then nothing is reserved} */
    synchronized boolean reserve(long more) {
      boolean reserved = add(caller, more);
      bytes += reserved ? more : 0;
      return reserved;
    }

    /** Releases some of the bytes, at most the reserved ones. */
    synchronized void release(long some) {
      long released = Math.min(some, bytes);
      bytes -= released;
      if (released > 0) {
        subtract(caller, released);
      }
    }

    void release() {
      release(Long.MAX_VALUE);
    }
  }
}
