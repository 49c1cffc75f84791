// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * The latest changes of timers, numbered from 1, up to a capacity. Writers never wait for readers:
 * a slow reader finds that old changes were dropped.
 */
public final class ChangeFeed {
  public static final int CAPACITY = 8_192;

  private static final int BLOCK_BYTES = 16;

  private final Change[] ring;
  private final SecureRandom random = new SecureRandom();

  /** Hides the numbers, from which a client could compute the rates of other namespaces. */
  private final SecretKeySpec idKey;

  private long next = 1;

  /**
   * A change of a timer, with its number in the feed, and the version and state after the change.
   */
  public record Change(
      long number, long atMillis, TimerKey key, long version, TimerState state, String kind) {}

  /** Creates a feed that keeps this many changes. */
  public ChangeFeed(int capacity) {
    ring = new Change[capacity];
    byte[] key = new byte[BLOCK_BYTES];
    random.nextBytes(key);
    idKey = new SecretKeySpec(key, "AES");
  }

  public synchronized void add(
      long atMillis, TimerKey key, long version, TimerState state, String kind) {
    ring[(int) (next % ring.length)] = new Change(next, atMillis, key, version, state, kind);
    next++;
  }

  /** {@return the number that the next change will have} */
  public synchronized long next() {
    return next;
  }

  /** {@return the number of the oldest change that is kept; of the next change if there is none} */
  public synchronized long oldest() {
    return Math.max(1, next - ring.length);
  }

  /** {@return the changes from a number until another one, exclusive, that are still kept} */
  public synchronized List<Change> read(long from, long until) {
    List<Change> changes = new ArrayList<>();
    long end = Math.min(until, next);
    for (long number = Math.max(from, oldest()); number < end; number++) {
      changes.add(ring[(int) (number % ring.length)]);
    }
    return changes;
  }

  /** {@return an ID of a change, for Last-Event-ID; another one for each call} */
  public String id(long number) {
    return encrypted(Cipher.ENCRYPT_MODE, new UUID(number, random.nextLong())).toString();
  }

  /** {@return the number after the change with an ID; 0 if this process never returned that ID} */
  public long resumeAt(String id) {
    try {
      UUID block = encrypted(Cipher.DECRYPT_MODE, UUID.fromString(id));
      long number = block.getMostSignificantBits() + 1;
      return number > 0 && number <= next() ? number : 0;
    } catch (IllegalArgumentException e) {
      return 0;
    }
  }

  @SuppressWarnings("InsecureCryptoUsage") // a single block, half of it random
  private UUID encrypted(int mode, UUID block) {
    ByteBuffer bytes = ByteBuffer.allocate(BLOCK_BYTES);
    bytes.putLong(block.getMostSignificantBits()).putLong(block.getLeastSignificantBits());
    try {
      Cipher cipher = Cipher.getInstance("AES/ECB/NoPadding");
      cipher.init(mode, idKey);
      ByteBuffer changed = ByteBuffer.wrap(cipher.doFinal(bytes.array()));
      return new UUID(changed.getLong(), changed.getLong());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("each Java platform has AES", e);
    }
  }
}
