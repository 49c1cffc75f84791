// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import org.jspecify.annotations.Nullable;

/**
 * The stored answer to a request. The store writes it in the commit of the change, and finds it by
 * the timer and the ID of the request.
 *
 * @param key the timer
 * @param request the ID and the digest
 * @param answer the answer of the first request
 * @param version the version in the answer
 * @param answeredAt the time of the change
 */
public record RequestAnswer(
    TimerKey key, RequestId request, Outcome.Answer answer, long version, long answeredAt) {
  /**
   * Checks that nothing is null.
   *
   * @param key the timer
   * @param request the ID and the digest
   * @param answer the answer of the first request
   * @param version the version in the answer
   * @param answeredAt the time of the change
   */
  public RequestAnswer {
    requireNonNull(key, "key");
    requireNonNull(request, "request");
    requireNonNull(answer, "answer");
  }

  /**
   * Returns the answer that a store must keep. If the condition or limit of a request was not met,
   * no answer is kept, because a repetition may meet it. An end that repeats an end of the same
   * claim may be the first one with its request ID, and then its answer is kept too.
   *
   * @param change the change
   * @param outcome its outcome
   * @param facts looks up the stored answer
   * @return the answer; null if there is nothing to keep
   */
  public static @Nullable RequestAnswer of(Change change, Outcome outcome, Facts facts) {
    RequestId request = change.request();
    if (request == null
        || !isKept(change, outcome)
        || (outcome.repeated() && facts.answer(change.key(), request.id()) != null)) {
      return null;
    }
    return new RequestAnswer(
        change.key(), request, outcome.answer(), outcome.version(), change.now());
  }

  private static boolean isKept(Change change, Outcome outcome) {
    return switch (outcome.answer()) {
      case CREATED, REPLACED, UNCHANGED, APPLIED -> true;
      case CANCELLED, RUNNING, COMPLETED -> change instanceof Change.Cancel;
      case NOT_FOUND, WRONG_STATE -> !(change instanceof Change.Keep);
      default -> false;
    };
  }

  /** Returns the outcome of a repetition. */
  Outcome repeated(RequestId again, @Nullable TimerRecord current) {
    return again.digest().equals(request.digest())
        ? new Outcome(answer, version, current, true)
        : new Outcome(Outcome.Answer.REQUEST_DIFFERS, version, current);
  }
}
