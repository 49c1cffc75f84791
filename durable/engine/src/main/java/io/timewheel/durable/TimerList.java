// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
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

  static Optional<String> token(@Nullable TimerKey next) {
    if (next == null) {
      return Optional.empty();
    }
    String text = next.namespace().length() + ":" + next.namespace() + next.id();
    return Optional.of(
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(text.getBytes(StandardCharsets.UTF_8)));
  }

  static TimerKey parse(String token) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
      int colon = text.indexOf(':');
      int end = colon + 1 + Integer.parseInt(text.substring(0, colon));
      TimerKey key = Limits.key(text.substring(colon + 1, end), text.substring(end));
      if (token(key).equals(Optional.of(token))) {
        return key;
      }
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("page: " + token + " (expected: a page token)", e);
    }
    throw new IllegalArgumentException("page: " + token + " (expected: a page token)");
  }
}
