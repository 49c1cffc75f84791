// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.batch;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Facts;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.spi.record.Transitions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides a batch of changes. Each change applies to the records after the changes before it. The
 * store then writes the changed cells, the {@linkplain #counts counts} and the {@linkplain #answers
 * answers} together. One object serves one try; it is not thread-safe.
 */
public final class Decision implements Facts {
  private final Facts stored;

  /** The counts that the store has written already in this try. */
  private final StateCounts written = new StateCounts();

  private final StateCounts counts = new StateCounts();

  /** The answers of requests in this batch, in the order of their keys. */
  private final Map<TimerKey, Map<String, RequestAnswer>> answers = new TreeMap<>();

  /**
   * Begins a batch.
   *
   * @param stored the facts without the changes of this batch
   */
  public Decision(Facts stored) {
    this.stored = requireNonNull(stored, "stored");
  }

  /**
   * Applies a change to its cell.
   *
   * @param cell the timer of the change
   * @param change the change
   * @return the outcome
   */
  public Outcome decide(Cell cell, Change change) {
    if (change.epoch() != 0 && isStale(change)) {
      return new Outcome(Outcome.Answer.STALE_OWNER, 0, null);
    }
    Outcome outcome = Transitions.apply(cell.after(), change, this);
    if (outcome.changes(cell.after())) {
      replace(cell, outcome.record());
    }
    RequestAnswer answer = RequestAnswer.of(change, outcome, this);
    if (answer != null) {
      answers
          .computeIfAbsent(cell.key(), key -> new TreeMap<>())
          .put(answer.request().id(), answer);
    }
    return outcome;
  }

  /**
   * Replaces the record of a cell as it is, such as by an imported one.
   *
   * @param cell the cell
   * @param record the record; null deletes it
   */
  public void replace(Cell cell, @Nullable TimerRecord record) {
    count(cell.after(), -1);
    count(record, 1);
    cell.after(record);
  }

  private void count(@Nullable TimerRecord record, long sign) {
    if (record != null) {
      counts.add(record, sign);
    }
  }

  /**
   * Reverts the changes of a cell, whose stored record was not the expected one.
   *
   * @param cell the cell
   */
  public void revert(Cell cell) {
    replace(cell, cell.before());
    answers.remove(cell.key());
  }

  // Claims

  /**
   * Provides the ready timers of queues, and limits their claims.
   *
   * @param <C> the cells of the store
   */
  public interface ReadyTimers<C extends Cell> {
    /**
     * Returns how many timers of a request its limit admits.
     *
     * @param request the request
     * @return zero to the requested number
     */
    int admitted(LeaseRequest request);

    /**
     * Visits the ready timers of a request in their order.
     *
     * @param request the request
     * @param visitor claims a timer; returns whether it wants another one
     */
    void visit(LeaseRequest request, Predicate<C> visitor);

    /**
     * Takes the tokens of the timers that were claimed.
     *
     * @param request the request
     * @param claimed the number of timers
     */
    void claimed(LeaseRequest request, int claimed);
  }

  /**
   * Claims ready timers for consumers, up to a total number and size.
   *
   * @param requests one for each queue, in their order
   * @param limit the largest number of all claims
   * @param ready the ready timers
   * @param tokens makes a token for each claim
   * @param nowMillis the time of the claims
   * @param <C> the cells of the store
   * @return the cells of the claimed timers
   */
  public <C extends Cell> List<C> lease(
      List<LeaseRequest> requests,
      int limit,
      ReadyTimers<C> ready,
      Supplier<ClaimToken> tokens,
      long nowMillis) {
    List<C> leased = new ArrayList<>();
    long[] bytes = new long[1];
    for (LeaseRequest request : requests) {
      int before = leased.size();
      int most = Math.min(before + ready.admitted(request), limit);
      if (before < most && bytes[0] < PageBuilder.MAX_BYTES) {
        ready.visit(
            request,
            cell -> {
              bytes[0] += PageBuilder.bytes(requireNonNull(cell.after()), true);
              lease(cell, tokens.get(), request.untilMillis(), nowMillis);
              leased.add(cell);
              return leased.size() < most && bytes[0] < PageBuilder.MAX_BYTES;
            });
        ready.claimed(request, leased.size() - before);
      }
    }
    return leased;
  }

  /**
   * Claims one ready timer.
   *
   * @param cell the cell of a ready timer
   * @param token the token of the claim
   * @param until the expiry of the claim lease
   * @param nowMillis the time of the claim
   */
  public void lease(Cell cell, ClaimToken token, long until, long nowMillis) {
    replace(
        cell,
        Transitions.lease(requireNonNull(cell.after(), "no record"), token, until, nowMillis));
  }

  // The delta

  /** {@return the counts that the store must add; do not change them} */
  public StateCounts counts() {
    return counts;
  }

  /** Records that the store has added the counts, in a try that continues. */
  public void countsWritten() {
    written.add(counts);
    counts.clear();
  }

  /** {@return the answers that the store keeps, in the order of their timers and request IDs} */
  public List<RequestAnswer> answers() {
    return answers.values().stream().flatMap(ofTimer -> ofTimer.values().stream()).toList();
  }

  // The facts with the changes of this batch

  @Override
  public long nextVersion(long above) {
    return stored.nextVersion(above);
  }

  @Override
  public long pending(String namespace) {
    return stored.pending(namespace) + written.unfinished(namespace) + counts.unfinished(namespace);
  }

  @Override
  public boolean isStale(Change change) {
    return stored.isStale(change);
  }

  @Override
  public boolean paused(String namespace) {
    return stored.paused(namespace);
  }

  @Override
  public @Nullable RequestAnswer answer(TimerKey key, String id) {
    RequestAnswer own = answers.getOrDefault(key, Map.of()).get(id);
    return own == null ? stored.answer(key, id) : own;
  }
}
