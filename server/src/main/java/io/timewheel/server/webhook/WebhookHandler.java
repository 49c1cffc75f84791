// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.Firing;
import java.net.URLEncoder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Calls the URLs of timers. Each origin has a handler name of its own, and with it a limit: a host
 * that does not answer holds up no other.
 */
public final class WebhookHandler implements AsyncHandler {
  private static final String PREFIX = "webhook:";
  private static final int MAX_NAME_BYTES = 256;

  /** How many hosts are called at a time; the others wait. */
  private static final int HOSTS = 512;

  /** Longer than any target may take: the client ends calls itself. */
  private static final Duration TIME_LIMIT = Duration.ofSeconds(75);

  /** Some verifiers parse what they have verified, and take no empty text. */
  private static final byte[] NO_PAYLOAD = "null".getBytes(US_ASCII);

  private final WebhookClient client;
  private final InstantSource clock;

  public WebhookHandler(WebhookClient client, InstantSource clock) {
    this.client = client;
    this.clock = clock;
  }

  /** {@return the name of the handler of an origin} */
  public static String nameFor(String origin) {
    String name = PREFIX + origin;
    return name.length() <= MAX_NAME_BYTES ? name : PREFIX + "sha-256:" + sha256(origin);
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(US_ASCII)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is in every JDK", e);
    }
  }

  public DurableTimerBuilder addTo(DurableTimerBuilder builder) {
    return builder.handlers(
        PREFIX, this, WebhookClient.MAX_CONNECTIONS_PER_HOST, HOSTS, TIME_LIMIT);
  }

  @Override
  public CompletionStage<?> start(Firing firing) {
    WebhookTarget target = StoredTarget.of(firing.headers());
    byte[] body = firing.payload().length == 0 ? NO_PAYLOAD : firing.payload();
    WebhookMessage message = new WebhookMessage(firing.fireId().toString(), body, headers(firing));
    return client
        .post(target, message)
        .handle(
            (answer, failure) -> {
              if (failure != null) {
                throw new Failed(String.valueOf(failure.getMessage()));
              }
              endAttempt(answer, firing);
              return answer;
            });
  }

  private void endAttempt(WebhookAnswer answer, Firing firing) {
    switch (answer.meaning()) {
      case DONE -> {}
      case GONE -> firing.giveUp(answer.describe());
      case FAILED -> {
        if (answer.retryAfter() != null) {
          firing.retryNotBefore(clock.instant().plus(answer.retryAfter()));
        }
        throw new Failed(answer.describe());
      }
    }
  }

  /** What is said of a firing beside its payload; names are encoded as in a URL. */
  private static Map<String, String> headers(Firing firing) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("timewheel-namespace", encoded(firing.namespace()));
    headers.put("timewheel-id", encoded(firing.id()));
    headers.put("timewheel-version", Long.toString(firing.version()));
    headers.put("timewheel-attempt", Integer.toString(firing.attempt()));
    headers.put("timewheel-scheduled-at", firing.scheduledAt().toString());
    headers.put("timewheel-fired-at", firing.firedAt().toString());
    headers.put("timewheel-late", Boolean.toString(firing.isLate()));
    StoredTarget.userHeaders(firing.headers())
        .forEach((name, value) -> headers.put("timewheel-header-" + encoded(name), encoded(value)));
    return headers;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  /** A call that failed. The history shows it to people, who need no name of a class. */
  @SuppressWarnings("OverrideThrowableToString") // it is what the engine keeps
  private static final class Failed extends RuntimeException {
    private static final long serialVersionUID = 1;

    Failed(String why) {
      super(why, null, false, false);
    }

    @Override
    public String toString() {
      return String.valueOf(getMessage());
    }
  }
}
