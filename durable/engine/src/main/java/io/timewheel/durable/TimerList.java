// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.TimerQuery;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list of timers, in the order of namespace and id.
 *
 * @param timers the timers
 * @param nextPage where the list goes on, an opaque text; empty on the last page
 */
public record TimerList(List<TimerInfo> timers, Optional<String> nextPage) {
  /**
   * Copies the list.
   *
   * @param timers the timers
   * @param nextPage where the list goes on, an opaque text; empty on the last page
   */
  public TimerList {
    timers = List.copyOf(timers);
    requireNonNull(nextPage, "nextPage");
  }

  /** The token of the page behind a key, good for this list alone. */
  static Optional<String> token(TimerQuery query, @Nullable TimerKey next) {
    if (next == null) {
      return Optional.empty();
    }
    String text =
        list(query) + ":" + next.namespace().length() + ":" + next.namespace() + next.id();
    return Optional.of(
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Tells lists apart: all that a query asks for, except the payload. */
  private static String list(TimerQuery query) {
    List<Object> parts = new ArrayList<>(new TreeSet<>(query.states()));
    parts.addAll(List.of(query.prefix(), query.dueFrom(), query.dueTo()));
    parts.addAll(Arrays.asList(query.namespace(), query.handler()));
    return Integer.toHexString(parts.toString().hashCode());
  }

  static TimerKey parse(TimerQuery query, String token) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
      int list = text.indexOf(':');
      int colon = text.indexOf(':', list + 1);
      int end = colon + 1 + Integer.parseInt(text.substring(list + 1, colon));
      TimerKey key = Limits.key(text.substring(colon + 1, end), text.substring(end));
      if (token(query, key).equals(Optional.of(token))) {
        return key;
      }
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "page: " + token + " (expected: a page token of this list)", e);
    }
    throw new IllegalArgumentException("page: " + token + " (expected: a page token of this list)");
  }
}
