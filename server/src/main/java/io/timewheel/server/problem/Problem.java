// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.problem;

import static java.util.Objects.requireNonNull;

import io.timewheel.api.ProblemDetails;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.TimerClosedException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/**
 * Why a request was not done, as RFC 9457 has it.
 *
 * @param status the HTTP status
 * @param code names the kind of problem, for programs
 * @param detail the fault, and the values that are accepted
 * @param field the field at fault, such as {@code retry.backoff}; or null
 * @param more further members: texts and whole numbers
 * @param headers headers of the answer, such as Allow
 * @param cause what this program did not expect, for its log; or null
 */
public record Problem(
    int status,
    String code,
    String detail,
    @Nullable String field,
    Map<String, Object> more,
    Map<String, String> headers,
    @Nullable Throwable cause) {
  public static final String MEDIA_TYPE = "application/problem+json";

  private static final String UNKNOWN_OUTCOME =
      "the change may have been made or not; repeat it with the same Idempotency-Key";

  /** A batch of 1,000 items that are refused is answered with less than 4 MB. */
  private static final int MAX_DETAIL = 800;

  private static final int MAX_FIELD = 128;

  /** Messages of the engine begin with the argument at fault. */
  private static final Pattern NAMED =
      Pattern.compile("([a-z][A-Za-z.]*(?:headers\\.[^\\s:]+)?): ");

  public Problem {
    requireNonNull(code, "code");
    detail = Names.shown(detail, MAX_DETAIL);
    field = field == null ? null : Names.shown(field, MAX_FIELD);
  }

  public static Problem of(int status, String code, String detail) {
    return new Problem(status, code, detail, null, Map.of(), Map.of(), null);
  }

  /** The request cannot be read: its form is wrong. */
  public static Problem malformed(String detail) {
    return of(400, "malformed", detail);
  }

  /** The request can be read, and asks for something that cannot be. */
  public static Problem invalid(@Nullable String field, String detail) {
    return of(422, "invalid", detail).at(field);
  }

  public static Problem tooLarge(String what, long maxBytes) {
    return of(413, "too_large", what + " is too large (expected: at most " + maxBytes + " bytes)");
  }

  public static Problem notFound() {
    return of(404, "not_found", "there is no such timer, and none is remembered");
  }

  /** {@return what an exception of the engine or of this program means to a caller} */
  public static Problem of(Throwable error) {
    if (error instanceof Failure failure) {
      return failure.problem();
    }
    String detail = String.valueOf(error.getMessage());
    if (error instanceof DurableTimerException e) {
      return switch (e.reason()) {
        case EXISTS, VERSION_DIFFERS, FINISHED -> of(412, "precondition_failed", detail);
        case OVER_LIMIT -> of(429, "over_limit", detail).header("Retry-After", "60");
        case REJECTED ->
            of(
                    422,
                    "rejected",
                    "the store rejects it; nothing was done, and the server's log has why")
                .caused(error);
        case REQUEST_DIFFERS ->
            of(422, "idempotency_key_reused", "the key belongs to a request of another content")
                .at("Idempotency-Key");
        case BUSY -> busy(detail);
        case STORE_UNAVAILABLE -> unavailable("the store does not answer; nothing was done");
        case UNKNOWN -> of(503, "unknown_outcome", UNKNOWN_OUTCOME).header("Retry-After", "1");
      };
    } else if (error instanceof InvalidArgumentException e) {
      return argument(e);
    } else if (error instanceof TimerClosedException) {
      return unavailable("the server is going down");
    }
    return of(500, "unexpected", "an error of the server; its log has it").caused(error);
  }

  /** {@return the problem of a value that was sent} */
  public static Problem argument(IllegalArgumentException error) {
    String detail = String.valueOf(error.getMessage());
    Matcher named = NAMED.matcher(detail);
    return invalid(named.lookingAt() ? named.group(1) : null, detail);
  }

  /** A read got no answer of the store in time. */
  public static Problem storeTimeout(Duration limit) {
    return unavailable("the store has not answered within " + limit);
  }

  /** A change got no answer of the store in time. */
  public static Problem unknownOutcome(Duration limit) {
    return of(
            503,
            "unknown_outcome",
            "the store has not answered within " + limit + ": " + UNKNOWN_OUTCOME)
        .header("Retry-After", "1");
  }

  public static Problem unavailable(String detail) {
    return of(503, "unavailable", detail).header("Retry-After", "1");
  }

  public static Problem busy(String detail) {
    return of(503, "busy", detail).header("Retry-After", "1");
  }

  public Problem at(@Nullable String where) {
    return new Problem(status, code, detail, where, more, headers, cause);
  }

  public Problem with(String name, Object value) {
    Map<String, Object> all = new LinkedHashMap<>(more);
    all.put(name, value);
    return new Problem(status, code, detail, field, all, headers, cause);
  }

  public Problem header(String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put(name, value);
    return new Problem(status, code, detail, field, more, all, cause);
  }

  private Problem caused(Throwable by) {
    return new Problem(status, code, detail, field, more, headers, by);
  }

  public Failure failure() {
    return new Failure(this);
  }

  /** {@return the problem as an answer} */
  public ProblemDetails details() {
    return new ProblemDetails(
        "urn:timewheel:problem:" + code,
        HttpStatus.getMessage(status),
        status,
        detail,
        field,
        more);
  }

  /** Carries a problem to whoever answers. */
  public static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient Problem problem;

    Failure(Problem problem) {
      super(problem.detail, null, false, false);
      this.problem = problem;
    }

    public Problem problem() {
      return problem;
    }
  }
}
