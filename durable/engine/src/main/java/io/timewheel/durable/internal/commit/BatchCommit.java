// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.health.Events;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The commit of one batch of a lane. Each part of it is answered as soon as the store has committed
 * or refused it. The lane repeats the changes in {@link #held()} and {@link #failed()}.
 *
 * <p>A batch that the store rejects is committed again in halves, at once and in order, until the
 * rejected change is alone. A batch with an unknown outcome is also halved, but its halves are
 * repeated later. Changes of held timers are removed, and the others are committed at once.
 */
final class BatchCommit {
  private final TimerStore store;
  private final Committer.Listener listener;
  private final BiConsumer<List<PendingChange>, List<Outcome>> answer;

  /** The changes of timers that were found held, in commit order. */
  private final List<PendingChange> held = new ArrayList<>();

  /** The latest reason of {@link #held}; null if there are none. */
  private @Nullable HeldTimersException heldFailure;

  private final List<FailedChanges> failed = new ArrayList<>();

  /**
   * Creates the commit of a batch.
   *
   * @param answer passes outcomes to the changes of a committed part
   */
  BatchCommit(
      TimerStore store,
      Committer.Listener listener,
      BiConsumer<List<PendingChange>, List<Outcome>> answer) {
    this.store = store;
    this.listener = listener;
    this.answer = answer;
  }

  /** {@return the changes of held timers, in commit order} */
  List<PendingChange> held() {
    return held;
  }

  /** {@return why the store did not commit the changes of held timers; null if there are none} */
  @Nullable HeldTimersException heldFailure() {
    return heldFailure;
  }

  /** {@return the changes to repeat after a failure; those of each element belong together} */
  List<FailedChanges> failed() {
    return failed;
  }

  /** Commits a batch, or a part of it. */
  void commit(List<PendingChange> changes) {
    List<PendingChange> part = withoutHeld(changes);
    if (part.isEmpty()) {
      return;
    }
    List<Outcome> outcomes;
    Object event = Events.commitBegins();
    try {
      outcomes = outcomes(part.stream().map(item -> item.change).toList());
      Events.commitEnded(event, part.size(), null);
    } catch (HeldTimersException e) {
      Events.commitEnded(event, part.size(), e);
      holdAndCommitOthers(part, e);
      return;
    } catch (StoreException e) {
      Events.commitEnded(event, part.size(), e);
      fail(part, e);
      return;
    } catch (RuntimeException | Error e) {
      Events.commitEnded(event, part.size(), e);
      String text = "the store threw " + textOf(e);
      fail(part, new StoreException(StoreException.Kind.UNKNOWN, text, e));
      return;
    }
    answer(part, outcomes);
  }

  /**
   * Answers a part. A change that may have been committed before is held if the store did not read
   * its timer.
   */
  private void answer(List<PendingChange> part, List<Outcome> outcomes) {
    List<PendingChange> answered = new ArrayList<>(part.size());
    List<Outcome> answers = new ArrayList<>(part.size());
    for (int i = 0; i < part.size(); i++) {
      PendingChange item = part.get(i);
      if (item.isUndecidedBy(outcomes.get(i))) {
        held.add(item);
        heldFailure = new HeldTimersException(Set.of(item.change.key()), null);
      } else {
        answered.add(item);
        answers.add(outcomes.get(i));
      }
    }
    answer.accept(answered, answers);
  }

  private List<Outcome> outcomes(List<Change> changes) {
    List<Outcome> outcomes = List.copyOf(store.commit(changes));
    if (outcomes.size() != changes.size()) {
      throw new IllegalStateException(
          outcomes.size() + " outcomes (expected: " + changes.size() + ")");
    }
    return outcomes;
  }

  /**
   * Returns the text of an exception, or its class if it fails to return a text, because the batch
   * must be answered.
   */
  private static String textOf(Throwable thrown) {
    try {
      return thrown.toString();
    } catch (RuntimeException | Error e) {
      return thrown.getClass().getName();
    }
  }

  /**
   * Returns the changes of a part, except those of timers that an earlier part found held. These
   * wait behind the earlier changes of their timers.
   */
  private List<PendingChange> withoutHeld(List<PendingChange> changes) {
    if (held.isEmpty()) {
      return changes;
    }
    Set<TimerKey> keys = HeldChanges.keys(held);
    List<PendingChange> others = new ArrayList<>();
    for (PendingChange item : changes) {
      (keys.contains(item.change.key()) ? held : others).add(item);
    }
    return others;
  }

  private void holdAndCommitOthers(List<PendingChange> part, HeldTimersException failure) {
    Map<Boolean, List<PendingChange>> changes =
        part.stream()
            .collect(
                Collectors.partitioningBy(item -> failure.heldKeys().contains(item.change.key())));
    List<PendingChange> tried = requireNonNull(changes.get(true));
    if (tried.isEmpty()) {
      fail(part, failure);
      return;
    }
    held.addAll(tried);
    heldFailure = failure;
    commit(requireNonNull(changes.get(false)));
  }

  private void fail(List<PendingChange> part, StoreException failure) {
    if (failure.kind() == StoreException.Kind.REJECTED && part.size() > 1) {
      commit(List.copyOf(part.subList(0, part.size() / 2)));
      commit(List.copyOf(part.subList(part.size() / 2, part.size())));
      return;
    }
    if (failure.kind() != StoreException.Kind.REJECTED) {
      listener.failed(part.size(), failure);
    }
    boolean unknown = failure.kind() == StoreException.Kind.UNKNOWN;
    List<PendingChange> again = new ArrayList<>();
    for (PendingChange item : part) {
      if (unknown) {
        item.becomesUnknown();
        listener.unknown(item.change, item.isOwn());
      }
      if (item.isRepeatedAfter(failure.kind())) {
        again.add(item);
      } else {
        if (item.isOwn()) {
          listener.rejected(item.change, failure);
        }
        item.fail(failure.reason(), failure);
      }
    }
    // Halved until the failing change is alone, because the others must not wait for it.
    int half = unknown ? again.size() / 2 : 0;
    if (half > 0) {
      again.stream().filter(PendingChange::isOwn).forEach(PendingChange::resetTries); // and soon
    }
    repeat(again.subList(0, half), failure);
    repeat(again.subList(half, again.size()), failure);
  }

  private void repeat(List<PendingChange> changes, StoreException failure) {
    if (!changes.isEmpty()) {
      failed.add(new FailedChanges(List.copyOf(changes), failure));
    }
  }
}
