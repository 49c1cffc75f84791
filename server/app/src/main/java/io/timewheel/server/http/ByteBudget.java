// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.util.HashMap;
import java.util.Map;

/** Limits the memory of bodies or of answers. One client may use half of it. Thread-safe. */
final class ByteBudget {
  private final long maxBytes;
  private final Map<String, Long> byClient = new HashMap<>();
  private long total;

  ByteBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  long maxBytes() {
    return maxBytes;
  }

  /** {@return an empty reservation of a client} */
  Reservation of(String client) {
    return new Reservation(client);
  }

  private synchronized boolean add(String client, long bytes) {
    long ofClient = byClient.getOrDefault(client, 0L) + bytes;
    if (total + bytes > maxBytes || ofClient > maxBytes / 2) {
      return false;
    }
    put(client, ofClient);
    total += bytes;
    return true;
  }

  private synchronized void subtract(String client, long bytes) {
    put(client, byClient.getOrDefault(client, 0L) - bytes);
    total -= bytes;
  }

  private void put(String client, long bytes) {
    if (bytes == 0) {
      byClient.remove(client);
    } else {
      byClient.put(client, bytes);
    }
  }

  /** The bytes of one body or one answer. Thread-safe. */
  final class Reservation {
    private final String client;
    private long bytes;

    private Reservation(String client) {
      this.client = client;
    }

    /** {@return false if there is no memory for the additional bytes; then nothing is reserved} */
    synchronized boolean reserve(long more) {
      boolean reserved = add(client, more);
      bytes += reserved ? more : 0;
      return reserved;
    }

    /** Releases some of the bytes, at most the reserved ones. */
    synchronized void release(long some) {
      long released = Math.min(some, bytes);
      bytes -= released;
      if (released > 0) {
        subtract(client, released);
      }
    }

    void release() {
      release(Long.MAX_VALUE);
    }
  }
}
