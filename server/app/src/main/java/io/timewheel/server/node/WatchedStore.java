// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that records its commits as {@link ChangeFeed.Change}s, and in the counts of {@link
 * Traffic}. All changes of this node pass through this class, after they are committed.
 *
 * <p>When an attempt of a handler begins, the record contains the time at which it was due, so the
 * lag is known. A record that becomes ready in its queue contains only the scheduled time of its
 * run. So the lag of a retry does not count, nor does the lag of a timer that was paused and
 * resumed.
 */
public final class WatchedStore extends ForwardingTimerStore {
  /** The number of retained states: more than a node commits within a millisecond. */
  private static final int NOTED_RECORDS = 4_096;

  private final String name;
  private final @Nullable JdbcTimerStore shared;
  private final NamespaceTraffic traffic;
  private final Function<Target, LagCounts> lags;
  private final ChangeFeed feed;
  private final InstantSource clock;
  private final Map<Integer, Long> epochs = new ConcurrentHashMap<>();

  /** The last recorded states, oldest first. Guarded by itself. */
  private final Set<Noted> noted = new LinkedHashSet<>();

  private volatile HandlerNames handlers = HandlerNames.NONE;
  private volatile long releasedAtMillis = Long.MIN_VALUE;

  WatchedStore(
      String name,
      TimerStore store,
      NamespaceTraffic traffic,
      Function<Target, LagCounts> lags,
      ChangeFeed feed,
      InstantSource clock) {
    super(store);
    this.name = name;
    this.shared = store instanceof JdbcTimerStore jdbc ? jdbc : null;
    this.traffic = traffic;
    this.lags = lags;
    this.feed = feed;
    this.clock = clock;
  }

  /** {@return the kind of store} */
  public String name() {
    return name;
  }

  /** {@return the store itself, if nodes share it; null if it is embedded} */
  public @Nullable JdbcTimerStore shared() {
    return shared;
  }

  /** {@return the shards that this node owns, and their epochs} */
  public Map<Integer, Long> epochs() {
    return Map.copyOf(epochs);
  }

  /** {@return the handlers that this node runs} */
  public HandlerNames handlers() {
    return handlers;
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    List<Outcome> outcomes = super.commit(changes);
    for (int i = 0; i < outcomes.size(); i++) {
      note(changes.get(i), outcomes.get(i));
    }
    return outcomes;
  }

  @Override
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    List<TimerRecord> leased = super.lease(requests, limit, nowMillis, tokens);
    for (TimerRecord record : leased) {
      traffic.count(record.key().namespace(), each -> each.fired.increment());
      note(record, nowMillis, "running");
    }
    return leased;
  }

  /** A state of a timer. Its version and revision grow with every change. */
  private record Noted(TimerKey key, long version, long revision) {}

  private void note(Change change, Outcome outcome) {
    TimerRecord record = outcome.record();
    // A repeated answer contains the present record.
    if (record == null || outcome.repeated() || record.changedAt() != change.now()) {
      return;
    }
    String kind = kind(change, outcome.answer(), record.state());
    if (kind == null || !isNew(record)) {
      return;
    }
    String namespace = record.key().namespace();
    if (change instanceof Change.Schedule) {
      traffic.count(namespace, each -> each.scheduled.increment());
    } else if (change instanceof Change.Begin && outcome.answer() == Answer.APPLIED) {
      traffic.count(namespace, each -> each.fired.increment());
      noteLag(record, record.fireAt());
    } else if (change instanceof Change.Finish finish) {
      noteEnd(namespace, finish.end(), record.state());
    } else if (change instanceof Change.Verb verb) {
      if (verb.command() != Change.Verb.Command.PAUSE) {
        releasedAtMillis = Math.max(releasedAtMillis, change.now());
      }
    } else if (change instanceof Change.MakeReady && outcome.answer() == Answer.APPLIED) {
      noteReady(record);
    }
    note(record, change.now(), kind);
  }

  /** {@return false if an answer of the same millisecond contained the record already} */
  private boolean isNew(TimerRecord record) {
    synchronized (noted) {
      boolean isNew = noted.add(new Noted(record.key(), record.version(), record.revision()));
      if (noted.size() > NOTED_RECORDS) {
        Iterator<Noted> oldest = noted.iterator();
        oldest.next();
        oldest.remove();
      }
      return isNew;
    }
  }

  private void note(TimerRecord record, long atMillis, String kind) {
    feed.add(atMillis, record.key(), record.version(), record.state(), kind);
  }

  private void noteEnd(String namespace, Change.Finish.End end, TimerState state) {
    switch (end) {
      case SUCCEEDED -> traffic.count(namespace, each -> each.succeeded.increment());
      case FAILED, EXHAUSTED, LOST, LOST_EXHAUSTED ->
          traffic.count(namespace, each -> each.failed.increment());
      default -> {}
    }
    if (state == TimerState.FAILED) {
      traffic.count(namespace, each -> each.exhausted.increment());
    }
  }

  private void noteReady(TimerRecord record) {
    long dueMillis = Math.max(record.scheduledAt(), record.createdAt());
    if (record.attempt() == 0 && dueMillis > releasedAtMillis) {
      noteLag(record, dueMillis);
    }
  }

  private void noteLag(TimerRecord record, long dueMillis) {
    long lagMillis = Math.max(0, clock.millis() + clockOffsetMillis() - dueMillis);
    traffic.count(record.key().namespace(), each -> each.lags.add(lagMillis));
    lags.apply(Target.of(record.definition())).add(lagMillis);
  }

  /** Returns the kind of a change, for clients; null if clients do not need it. */
  private static @Nullable String kind(Change change, Answer answer, TimerState state) {
    return switch (answer) {
      case CREATED, REPLACED -> answer.name().toLowerCase(Locale.ROOT);
      case CANCELLED -> change instanceof Change.Cancel ? "cancelled" : null;
      case RUNNING -> "cancel_requested";
      case HELD -> "held";
      case APPLIED -> step(change, state);
      default -> null;
    };
  }

  private static @Nullable String step(Change change, TimerState state) {
    if (change instanceof Change.Begin) {
      return "running";
    } else if (change instanceof Change.MakeReady) {
      return "ready";
    } else if (change instanceof Change.Move) {
      return "moved";
    } else if (change instanceof Change.Skip) {
      return "skipped";
    } else if (change instanceof Change.Park) {
      return "blocked";
    } else if (change instanceof Change.Verb verb) {
      return switch (verb.command()) {
        case PAUSE -> "paused";
        case RESUME -> "resumed";
        case RELEASE -> "released";
        case RUN -> "run";
        case RETRY -> "retried";
      };
    } else if (change instanceof Change.Finish finish) {
      if (state == TimerState.FAILED) {
        return "failed";
      }
      return switch (finish.end()) {
        case SUCCEEDED -> "succeeded";
        case FAILED, EXHAUSTED -> "failed";
        case LOST, LOST_EXHAUSTED -> "lost";
        case RESCHEDULED -> "rescheduled";
        case GIVEN_BACK -> "given_back";
      };
    }
    return null; // the extension of a claim lease
  }

  @Override
  public void start(StoreListener listener) {
    handlers = listener.handlers();
    super.start(
        new StoreListener() {
          @Override
          public HandlerNames handlers() {
            return listener.handlers();
          }

          @Override
          public boolean ownsShards() {
            return listener.ownsShards();
          }

          @Override
          public void known(HandlerNames ofLiveSessions) {
            listener.known(ofLiveSessions);
          }

          @Override
          public void acquired(int shard, long epoch) {
            epochs.put(shard, epoch);
            listener.acquired(shard, epoch);
          }

          @Override
          public CompletionStage<Void> releasing(int shard) {
            return listener.releasing(shard);
          }

          @Override
          public void lost(int shard) {
            epochs.remove(shard);
            listener.lost(shard);
          }

          @Override
          public void paused(String scope) {
            listener.paused(scope);
          }

          @Override
          public void added(int shard, long fireAt) {
            listener.added(shard, fireAt);
          }

          @Override
          public void ready(String namespace, String queue) {
            listener.ready(namespace, queue);
          }

          @Override
          public void ready(String handler) {
            listener.ready(handler);
          }
        });
  }
}
