// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.event;

import io.timewheel.server.node.ChangeFeed;
import io.timewheel.server.security.Scope;
import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * Encoded parts of the feed, shared by all streams at the same position. Valid for one pulse, and
 * not thread-safe.
 */
public final class FeedSlices {
  private static final byte[] NOTHING = {};

  private final ChangeFeed feed;
  private final long end;
  private final Map<Key, Slice> made = new HashMap<>();

  private record Key(Scope scope, long from, int limit) {}

  /**
   * A part of the feed.
   *
   * @param messages its changes as messages
   * @param count the number of messages
   * @param next the position after this part
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Slice(byte[] messages, int count, long next) {}

  public FeedSlices(ChangeFeed feed) {
    this.feed = feed;
    end = feed.next();
  }

  /** {@return the changes of a scope from a position on, up to a limit} */
  Slice slice(Scope scope, long from, int limit) {
    if (from >= end) {
      return new Slice(NOTHING, 0, from);
    }
    return made.computeIfAbsent(new Key(scope, from, limit), this::make);
  }

  private Slice make(Key key) {
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    int count = 0;
    for (ChangeFeed.Change change : feed.read(key.from, end)) {
      if (!key.scope.sees(change.key().namespace())) {
        continue;
      }
      if (count == key.limit) {
        return new Slice(messages.toByteArray(), count, change.number());
      }
      messages.writeBytes(EventMessage.of(feed.id(change.number()), change));
      count++;
    }
    return new Slice(messages.toByteArray(), count, end);
  }

  /** {@return the rest of the changes of a scope from a position on, without their messages} */
  Slice rest(Scope scope, long from) {
    if (from >= end) {
      return new Slice(NOTHING, 0, from);
    }
    if (scope.equals(Scope.ALL)) {
      return new Slice(NOTHING, (int) (end - from), end);
    }
    return made.computeIfAbsent(new Key(scope, from, -1), this::count);
  }

  private Slice count(Key key) {
    int count = 0;
    for (ChangeFeed.Change change : feed.read(key.from, end)) {
      count += key.scope.sees(change.key().namespace()) ? 1 : 0;
    }
    return new Slice(NOTHING, count, end);
  }
}
