// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.api.ApiJson;
import io.timewheel.api.Firing;
import io.timewheel.api.HeaderValue;
import io.timewheel.api.RawJson;
import io.timewheel.api.Retry;
import io.timewheel.api.TimerAnswer;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.json.Json;
import io.timewheel.server.webhook.StoredTarget;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts timers and firings to answers. */
public final class TimerView {
  private static final int NEXT_RUNS = 5;
  private static final byte[] NOTHING = {};

  /** Matches the name of the class at the start of the text of an exception. */
  private static final Pattern THROWN =
      Pattern.compile("(?:[a-z_][\\w]*\\.)+[A-Z][\\w$]*(?::\\s+|$)");

  private TimerView() {}

  public static TimerAnswer whole(TimerInfo timer) {
    return answer(timer, true, true);
  }

  public static TimerAnswer brief(TimerInfo timer, boolean payload) {
    return answer(timer, payload, false);
  }

  /** {@return the state of a timer; ready also if it waits for a concurrency slot} */
  public static TimerState state(TimerInfo timer) {
    return timer.isOverdue() ? TimerState.READY : timer.state();
  }

  private static TimerAnswer answer(TimerInfo timer, boolean withPayload, boolean whole) {
    // Returned as it was sent. A delay is returned as the time at which it ends.
    String recurrence = timer.recurrence();
    String rest = recurrence.substring(recurrence.indexOf(' ') + 1);
    boolean cron = recurrence.startsWith("cron ");
    boolean every = recurrence.startsWith("every ");
    boolean delay = recurrence.startsWith("delay ");
    int zone = rest.lastIndexOf(' ');
    byte[] payload = withPayload ? timer.payload() : NOTHING;
    RawJson json = Json.payload(payload);
    return new TimerAnswer(
        timer.key().namespace(),
        timer.key().id(),
        timer.version(),
        Json.name(state(timer)),
        timer.dueAt(),
        timer.fireAt().orElse(null),
        timer.attempt(),
        timer.createdAt(),
        timer.changedAt(),
        error(timer, timer.lastError().orElse(null)),
        whole ? timer.lastTrace().orElse(null) : null,
        cron ? rest.substring(0, zone) : null,
        cron ? rest.substring(zone + 1) : null,
        every ? rest : null,
        delay ? rest : null,
        timer.jitter().orElse(null),
        timer.until().orElse(null),
        timer.times().orElse(null),
        cron || every || delay ? null : timer.dueAt(),
        target(timer),
        new Retry(timer.retry().maxAttempts(), timer.retry().backoff(), timer.retry().maxBackoff()),
        Json.name(timer.missed()),
        timer.grace(),
        StoredTarget.userHeaders(timer.headers()),
        json,
        base64(payload, json),
        whole && !recurrence.isEmpty() ? next(timer) : null,
        whole ? timer.attempts().stream().map(each -> attempt(timer, each)).toList() : null);
  }

  /** {@return the next runs, except those beyond the last instant of the API} */
  private static List<Instant> next(TimerInfo timer) {
    return timer.next(NEXT_RUNS).stream().filter(ApiJson::isAccepted).toList();
  }

  private static TimerAnswer.Target target(TimerInfo timer) {
    Map<String, String> stored = timer.headers();
    String queue = timer.queue().orElse(null);
    String url = stored.get(StoredTarget.URL);
    if (url == null) {
      String handler = timer.handler().orElse(null);
      return new TimerAnswer.Target(queue, null, null, null, null, handler);
    }
    Map<String, HeaderValue> headers = StoredTarget.headers(stored);
    return new TimerAnswer.Target(
        queue,
        url,
        stored.get(StoredTarget.SECRET),
        stored.get(StoredTarget.TIMEOUT),
        headers.isEmpty() ? null : headers,
        null);
  }

  /**
   * {@return an error without the name of a class} The engine records the exception of a handler as
   * {@code java.io.IOException: no luck}. Errors from consumers are returned unchanged.
   */
  public static @Nullable String error(TimerInfo timer, @Nullable String recorded) {
    if (recorded == null || timer.queue().isPresent()) {
      return recorded;
    }
    Matcher thrown = THROWN.matcher(recorded);
    if (!thrown.lookingAt()) {
      return recorded;
    }
    String message = recorded.substring(thrown.end());
    return message.isBlank() ? "the handler failed, and gave no reason" : message;
  }

  /** Returns a payload that is not JSON in Base64. Such a payload did not come through this API. */
  private static @Nullable String base64(byte[] payload, @Nullable RawJson json) {
    return json != null || payload.length == 0 ? null : Base64.getEncoder().encodeToString(payload);
  }

  private static TimerAnswer.Attempt attempt(TimerInfo timer, Attempt attempt) {
    return new TimerAnswer.Attempt(
        attempt.number(),
        Instant.ofEpochMilli(attempt.scheduledAtMillis()),
        Instant.ofEpochMilli(attempt.beganAtMillis()),
        Instant.ofEpochMilli(attempt.endedAtMillis()),
        Json.name(attempt.end()),
        error(timer, attempt.error()));
  }

  public static Firing firing(QueueFiring claimed) {
    var firing = claimed.firing();
    RawJson json = Json.payload(firing.payload());
    return new Firing(
        firing.fireId().toString(),
        firing.namespace(),
        firing.id(),
        firing.version(),
        firing.attempt(),
        firing.scheduledAt(),
        firing.firedAt(),
        firing.isLate(),
        json,
        base64(firing.payload(), json),
        firing.headers(),
        claimed.leaseToken(),
        claimed.leasedUntil());
  }
}
