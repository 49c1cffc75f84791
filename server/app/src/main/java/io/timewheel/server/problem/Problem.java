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
 * The reason why a request failed, in the form of RFC 9457.
 *
 * @param status the HTTP status
 * @param code the kind of problem, for programs
 * @param detail the fault, and the values that are accepted
 * @param field the field at fault, such as {@code retry.backoff}; or null
 * @param more further members: texts and whole numbers
 * @param headers headers of the answer, such as Allow
 * @param cause an unexpected exception, for the log; or null
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

  /** With it, the answer to a batch of 1,000 refused items is smaller than 4 MB. */
  private static final int MAX_DETAIL = 800;

  private static final int MAX_FIELD = 128;

  /** Matches the argument at fault, with which messages of the engine begin. */
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

  /** Returns the problem of a request with a wrong form. */
  public static Problem malformed(String detail) {
    return of(400, "malformed", detail);
  }

  /** Returns the problem of a well-formed request that asks for something impossible. */
  public static Problem invalid(@Nullable String field, String detail) {
    return of(422, "invalid", detail).at(field);
  }

  public static Problem tooLarge(String what, long maxBytes) {
    return of(413, "too_large", what + " is too large (expected: at most " + maxBytes + " bytes)");
  }

  public static Problem notFound() {
    return of(404, "not_found", "there is no such timer, not even a retained one");
  }

  /** {@return the problem that an exception of the engine or of the server means for a caller} */
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
                    "the store rejected the change; nothing was done, see the server's log")
                .caused(error);
        case REQUEST_DIFFERS ->
            of(422, "idempotency_key_reused", "the key belongs to a request with other content")
                .at("Idempotency-Key");
        case BUSY -> busy(detail);
        case STORE_UNAVAILABLE -> unavailable("the store does not answer; nothing was done");
        case UNKNOWN -> of(503, "unknown_outcome", UNKNOWN_OUTCOME).header("Retry-After", "1");
      };
    } else if (error instanceof InvalidArgumentException e) {
      return argument(e);
    } else if (error instanceof TimerClosedException) {
      return unavailable("the server is shutting down");
    }
    return of(500, "unexpected", "internal error; see the server's log").caused(error);
  }

  /** Refuses a request without a field. */
  public static Failure missing(String field, String expected) {
    return invalid(field, field + ": is missing (expected: " + expected + ")").failure();
  }

  /** {@return the problem of an invalid value in the request} */
  public static Problem argument(IllegalArgumentException error) {
    String detail = String.valueOf(error.getMessage());
    Matcher named = NAMED.matcher(detail);
    return invalid(named.lookingAt() ? named.group(1) : null, detail);
  }

  /** Returns the problem of a read that the store did not answer in time. */
  public static Problem storeTimeout(Duration limit) {
    return unavailable("the store has not answered within " + limit);
  }

  /** Returns the problem of a change that the store did not answer in time. */
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

  /** Thrown to answer a request with a problem. */
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
