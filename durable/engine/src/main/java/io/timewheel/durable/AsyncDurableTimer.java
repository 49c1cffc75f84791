// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/**
 * The calls of a {@link DurableTimer} that do not wait for the commit. Each returns a stage, which
 * completes after the commit, or fails with the failure of the call. Invalid arguments and a closed
 * scheduler throw at once. If the write queue is full, a call blocks, unless the scheduler was
 * built to {@linkplain DurableTimerBuilder#queueCapacity refuse} it.
 */
public final class AsyncDurableTimer {
  private final Requests requests;

  AsyncDurableTimer(Requests requests) {
    this.requests = requests;
  }

  /**
   * Schedules a timer, or replaces the timer with the same key.
   *
   * @param spec the timer
   * @return the outcome
   */
  public CompletionStage<ScheduleResult> schedule(TimerSpec spec) {
    return requests.stage(() -> requests.one(spec, requests.changes.schedule()));
  }

  /**
   * Schedules many timers in as few commits as possible. Each timer succeeds or fails on its own.
   *
   * @param specs the timers
   * @return the result of each, in the same order
   */
  public CompletionStage<List<BatchResult<ScheduleResult>>> scheduleAll(
      Collection<TimerSpec> specs) {
    return requests.stage(
        () -> requests.all(specs, "spec", TimerSpec::key, requests.changes.schedule()));
  }

  /**
   * Selects a timer.
   *
   * @param namespace its namespace
   * @param id its id
   * @return its commands
   */
  public TimerCommands<CompletionStage<CancelResult>, CompletionStage<VerbResult>> timer(
      String namespace, String id) {
    return timer(new TimerKey(namespace, id));
  }

  /**
   * Selects a timer.
   *
   * @param key its key
   * @return its commands
   */
  public TimerCommands<CompletionStage<CancelResult>, CompletionStage<VerbResult>> timer(
      TimerKey key) {
    Limits.key(key);
    return new TimerCommands<>(
        requests.changes,
        call -> requests.stage(() -> requests.one(key, call)),
        call -> requests.stage(() -> requests.one(key, call)));
  }

  /**
   * Selects many timers.
   *
   * @param keys their keys
   * @return their commands, which return the result of each, in the same order
   */
  public TimerCommands<
          CompletionStage<List<BatchResult<CancelResult>>>,
          CompletionStage<List<BatchResult<VerbResult>>>>
      timers(Collection<TimerKey> keys) {
    return new TimerCommands<>(
        requests.changes,
        call -> requests.stage(() -> requests.all(keys, call)),
        call -> requests.stage(() -> requests.all(keys, call)));
  }

  /**
   * Selects a queue.
   *
   * @param namespace the namespace of the queue
   * @param name its name
   * @return its claims
   */
  public QueueRef<CompletionStage<List<QueueFiring>>, CompletionStage<LeaseResult>> queue(
      String namespace, String name) {
    return new QueueRef<>(requests, namespace, name, claim -> claim, this::changeLease);
  }

  /**
   * Ends or extends a claim lease, for a consumer that knows only its token.
   *
   * @param change the end or the extension
   * @return the result
   */
  public CompletionStage<LeaseResult> changeLease(LeaseChange change) {
    return requests.stage(() -> requests.leases.change(change));
  }

  /**
   * Ends or extends many claim leases. Each change succeeds or fails on its own. Their timers are
   * read together.
   *
   * @param changes the ends and extensions
   * @return the result of each, in the same order
   */
  public CompletionStage<List<BatchResult<LeaseResult>>> changeLeases(
      Collection<LeaseChange> changes) {
    return requests.stage(() -> requests.leases.changeAll(changes));
  }

  /**
   * Stores a number as the answer to a request, unless the request already has an answer. Meant for
   * requests that do not belong to one timer, such as bulk operations.
   *
   * @param key the subject of the request; a timer with this key need not exist
   * @param request the request
   * @param answer the number; empty to read the stored one
   * @return the stored number; empty if there is none
   */
  public CompletionStage<OptionalLong> keepAnswer(
      TimerKey key, RequestId request, OptionalLong answer) {
    requireNonNull(request, "request");
    return requests.stage(() -> requests.one(key, requests.changes.keep(request, answer)));
  }
}
