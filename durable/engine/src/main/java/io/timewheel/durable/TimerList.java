// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.DuePosition;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list of timers, in the order of its filter.
 *
 * @param timers the timers
 * @param nextPage the opaque token of the next page; empty on the last page
 */
public record TimerList(List<TimerInfo> timers, Optional<String> nextPage) {
  /**
   * Copies the list.
   *
   * @param timers the timers
   * @param nextPage the opaque token of the next page; empty on the last page
   */
  public TimerList {
    timers = List.copyOf(timers);
    requireNonNull(nextPage, "nextPage");
  }

  /** Returns the token of the page after a position. It is valid only for this list. */
  static Optional<String> token(TimerFilter filter, @Nullable DuePosition next) {
    if (next == null) {
      return Optional.empty();
    }
    String namespace = next.key().namespace();
    String text =
        "%s:%d:%d:%s%s"
            .formatted(list(filter), next.fireAt(), namespace.length(), namespace, next.key().id());
    return Optional.of(
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns a text that identifies a list: all conditions of a filter, except the payload. */
  private static String list(TimerFilter filter) {
    TimerQuery query = filter.query();
    List<Object> parts = new ArrayList<>(new TreeSet<>(query.states()));
    parts.addAll(List.of(query.prefix(), query.dueFrom(), query.dueTo(), filter.order()));
    parts.addAll(Arrays.asList(query.namespace(), query.handler(), query.queue()));
    return UUID.nameUUIDFromBytes(parts.toString().getBytes(StandardCharsets.UTF_8)).toString();
  }

  static DuePosition parse(TimerFilter filter, String token) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
      String[] parts = text.split(":", 4);
      int end = Integer.parseInt(parts[2]);
      TimerKey key = Limits.key(parts[3].substring(0, end), parts[3].substring(end));
      DuePosition position = new DuePosition(Long.parseLong(parts[1]), key);
      if (token(filter, position).equals(Optional.of(token))) {
        return position;
      }
    } catch (RuntimeException e) {
      throw new InvalidArgumentException(
          "page: " + token + " (expected: a page token of this list)", e);
    }
    throw new InvalidArgumentException("page: " + token + " (expected: a page token of this list)");
  }
}
