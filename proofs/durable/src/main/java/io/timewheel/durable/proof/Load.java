// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Call;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The callers and consumers of one child, each in its own thread until the process or the timer
 * ends. All calls and results are logged.
 *
 * <p>Most calls are for timers of this round, some for timers of the previous one. The ID of a
 * timer begins with its use:
 *
 * <ul>
 *   <li>{@code k}: any caller may change the timer.
 *   <li>{@code m}: one caller owns the timer and may move it.
 *   <li>{@code q}: a queue receives the timer.
 *   <li>{@link LogChecker#EFFECT}: the handler of the timer runs in a transaction.
 *   <li>{@link LogChecker#RATE}: the timer recurs.
 * </ul>
 */
final class Load {
  static final String NAMESPACE = "kills";
  static final String HANDLER = "h";
  static final String IN_TRANSACTION = "t";
  static final String QUEUE = "q";
  static final long RATE_MILLIS = 200;

  private static final int IDS_PER_ROUND = 400;
  private static final int RATES = 6;
  private static final int REQUESTS_PER_TIMER = 5;
  private static final int MAX_DELAY_MILLIS = 1_500;
  private static final RetryPolicy RETRY =
      new RetryPolicy(1_000, Duration.ofMillis(20), Duration.ofMillis(100));

  private final DurableTimer scheduler;
  private final Log log;
  private final InstantSource clock;
  private final int clockErrorMillis;
  private final int round;
  private final Manners manners;
  private final AtomicInteger calls;
  private final Semaphore asynchronous = new Semaphore(64);
  private volatile boolean ending;

  /**
   * The behaviour of callers and consumers.
   *
   * @param pauseMillis the time between two calls
   * @param goOn whether they continue after an error of the store; otherwise it is a violation
   * @param inTransaction whether the handler {@link #IN_TRANSACTION} is registered
   */
  record Manners(int pauseMillis, boolean goOn, boolean inTransaction) {
    static final Manners EAGER = new Manners(0, false, false);
  }

  Load(
      DurableTimer scheduler,
      Log log,
      InstantSource clock,
      int clockErrorMillis,
      int round,
      Manners manners) {
    this.manners = manners;
    this.scheduler = scheduler;
    this.log = log;
    this.clock = clock;
    this.clockErrorMillis = clockErrorMillis;
    this.round = round;
    calls = new AtomicInteger(round * 100_000);
  }

  void startCallers(int callers, long seed) {
    for (int i = 0; i < callers; i++) {
      int caller = i;
      Random random = new Random(seed + i);
      boolean waits = i % 2 == 0;
      thread(
          "caller-" + i,
          () -> {
            if (waits) {
              call(caller, random);
            } else {
              scheduleAsync(shared(random), random);
            }
          });
    }
  }

  /**
   * Starts a consumer.
   *
   * @param seed decides how it ends its claim leases; 0 if all attempts succeed
   */
  void startConsumer(long seed) {
    Random random = new Random(seed);
    thread("consumer", () -> consume(seed == 0 ? null : random));
  }

  /**
   * Stops the load. From now on, an exception of a call ends its thread, and is not a violation.
   */
  void end() {
    ending = true;
  }

  private void thread(String name, Runnable loop) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (!ending) {
                  runOnce(loop);
                  Thread.sleep(manners.pauseMillis);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (RuntimeException | Error e) {
                if (!ending) {
                  log.violation(name + ": " + e);
                }
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  private void runOnce(Runnable loop) {
    try {
      loop.run();
    } catch (DurableTimerException | CompletionException e) {
      if (!manners.goOn || !(cause(e) instanceof DurableTimerException)) {
        throw e;
      }
    }
  }

  // Callers

  private void call(int caller, Random random) {
    if (manners.inTransaction && random.nextInt(4) == 0) {
      TimerKey key = new TimerKey(NAMESPACE, LogChecker.EFFECT + id(random));
      if (random.nextInt(5) == 0) {
        cancel(key);
      } else {
        schedule(key, random);
      }
      return;
    }
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3 -> schedule(shared(random), random);
      case 4, 5, 6, 7, 8 -> scheduleAsync(shared(random), random);
      case 9 -> scheduleAll(random);
      case 10, 11, 12 -> cancel(shared(random));
      case 13 -> pauseAndResume(shared(random));
      case 14, 15 -> schedule(queued(random), random);
      case 16 -> cancel(queued(random));
      case 17 -> {
        TimerKey key = new TimerKey(NAMESPACE, "m" + caller + "-" + id(random));
        schedule(key, random);
        move(key, random);
      }
      case 18 -> {
        if (random.nextInt(20) == 0) {
          schedule(new TimerKey(NAMESPACE, LogChecker.RATE + random.nextInt(RATES)), random);
        }
      }
      default -> {
        if (random.nextInt(20) == 0) {
          cancel(new TimerKey(NAMESPACE, LogChecker.RATE + random.nextInt(RATES)));
        }
      }
    }
  }

  private TimerKey queued(Random random) {
    return new TimerKey(NAMESPACE, "q" + id(random));
  }

  /** Starts a caller that cancels and replaces timers of the queue in its own transactions. */
  void startUser(UserCalls user, long seed) {
    Random random = new Random(seed);
    thread("user", () -> callAsUser(user, random));
  }

  private void callAsUser(UserCalls user, Random random) {
    boolean commits = random.nextInt(4) > 0;
    if (random.nextBoolean()) {
      TimerKey key = queued(random);
      int call = calls.incrementAndGet();
      log.invoked(call, key, Call.CANCEL, 0, 0, Log.NONE);
      CancelResult result =
          user.call(transaction -> transaction.cancel(key.namespace(), key.id()), commits);
      if (result != null && commits) {
        log.answered(call, key, Answer.valueOf(result.outcome().name()), result.version());
      } else {
        log.answered(call, key, Answer.UNKNOWN, 0);
      }
    } else {
      Made made = make(queued(random), random);
      ScheduleResult result = user.call(transaction -> transaction.schedule(made.spec), commits);
      if (result != null && commits) {
        answered(made, result);
      } else {
        log.answered(made.call, made.key, Answer.UNKNOWN, 0);
      }
    }
  }

  private TimerKey shared(Random random) {
    return new TimerKey(NAMESPACE, "k" + id(random));
  }

  private int id(Random random) {
    boolean ofLastRound = random.nextInt(8) == 0;
    return (round - (ofLastRound ? 1 : 0)) * IDS_PER_ROUND + random.nextInt(IDS_PER_ROUND);
  }

  /** A call that is logged, and its request. */
  private record Made(int call, TimerKey key, TimerSpec spec) {}

  private Made make(TimerKey key, Random random) {
    int call = calls.incrementAndGet();
    long nowMillis = clock.millis();
    long delayMillis = random.nextInt(MAX_DELAY_MILLIS);
    TimerSpec spec =
        TimerSpec.of(key.namespace(), key.id())
            .retry(RETRY)
            .payload(ByteBuffer.allocate(Integer.BYTES).putInt(call).array());
    if (key.id().startsWith("q")) {
      spec.queue(QUEUE);
    } else {
      spec.handler(key.id().startsWith(LogChecker.EFFECT) ? IN_TRANSACTION : HANDLER);
    }
    long dueMillis = nowMillis + delayMillis;
    String requestId = Log.NONE;
    if (key.id().startsWith(LogChecker.RATE)) {
      spec.every(Duration.ofMillis(RATE_MILLIS))
          .at(Instant.ofEpochMilli(nowMillis + delayMillis))
          .missed(MissedRuns.FIRE_ALL);
    } else {
      if (random.nextBoolean()) {
        spec.at(Instant.ofEpochMilli(nowMillis + delayMillis));
      } else {
        // The delay counts from the scheduler's clock reading, and the clock may have jumped back
        // before that.
        dueMillis = System.currentTimeMillis() - clockErrorMillis + delayMillis;
        spec.after(Duration.ofMillis(delayMillis));
      }
      if (random.nextInt(3) == 0) {
        requestId = "r" + random.nextInt(REQUESTS_PER_TIMER);
        spec.requestId(requestId);
      }
    }
    log.invoked(call, key, Call.SCHEDULE, dueMillis, call, requestId);
    return new Made(call, key, spec);
  }

  private void schedule(TimerKey key, Random random) {
    Made made = make(key, random);
    try {
      answered(made, scheduler.schedule(made.spec));
    } catch (DurableTimerException e) {
      refused(made, e);
    }
  }

  private void scheduleAsync(TimerKey key, Random random) {
    asynchronous.acquireUninterruptibly();
    Made made = make(key, random);
    scheduler
        .async()
        .schedule(made.spec)
        .whenComplete(
            (result, error) -> {
              asynchronous.release();
              if (result != null) {
                answered(made, result);
              } else if (cause(error) instanceof DurableTimerException e) {
                refused(made, e);
              }
            });
  }

  private void scheduleAll(Random random) {
    List<Made> batch = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      batch.add(make(shared(random), random));
    }
    List<BatchResult<ScheduleResult>> results =
        scheduler.scheduleAll(batch.stream().map(Made::spec).toList());
    for (int i = 0; i < results.size(); i++) {
      ScheduleResult result = results.get(i).result();
      if (result != null) {
        answered(batch.get(i), result);
      } else if (results.get(i).error() instanceof DurableTimerException e) {
        refused(batch.get(i), e);
      }
    }
  }

  private static Throwable cause(Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? error.getCause()
        : error;
  }

  private void answered(Made made, ScheduleResult result) {
    log.answered(made.call, made.key, Answer.valueOf(result.outcome().name()), result.version());
  }

  private void refused(Made made, DurableTimerException error) {
    boolean unknown = error.reason() == DurableTimerException.Reason.UNKNOWN;
    log.answered(made.call, made.key, unknown ? Answer.UNKNOWN : Answer.REFUSED, 0);
  }

  /** Cancels a timer, and logs the result. */
  void cancel(TimerKey key) {
    int call = calls.incrementAndGet();
    log.invoked(call, key, Call.CANCEL, 0, 0, Log.NONE);
    try {
      CancelResult result = scheduler.timer(key.namespace(), key.id()).cancel();
      log.answered(call, key, Answer.valueOf(result.outcome().name()), result.version());
    } catch (DurableTimerException e) {
      log.answered(call, key, Answer.UNKNOWN, 0);
    }
  }

  /**
   * Pauses and resumes a timer. After a kill, the timer may stay paused, so the end of the life
   * resumes all timers.
   */
  private void pauseAndResume(TimerKey key) {
    scheduler.timer(key.namespace(), key.id()).pause();
    scheduler.timer(key.namespace(), key.id()).resume();
  }

  /**
   * Moves a timer. The move creates a version, which is read afterwards: only this caller changes
   * the timer.
   */
  private void move(TimerKey key, Random random) {
    int call = calls.incrementAndGet();
    long atMillis = clock.millis() + random.nextInt(MAX_DELAY_MILLIS);
    log.invoked(call, key, Call.SCHEDULE, atMillis, 0, Log.NONE);
    try {
      VerbResult result = scheduler.timer(key).move(Instant.ofEpochMilli(atMillis));
      if (result == VerbResult.DONE) {
        scheduler
            .timer(key.namespace(), key.id())
            .get()
            .ifPresentOrElse(
                moved -> log.answered(call, key, Answer.REPLACED, moved.version()),
                () -> log.violation(key + ": moved, and missing"));
      } else {
        log.answered(call, key, Answer.REFUSED, 0);
      }
    } catch (DurableTimerException e) {
      log.answered(call, key, Answer.UNKNOWN, 0);
    }
  }

  // Consumers

  private void consume(@Nullable Random random) {
    List<QueueFiring> claimed =
        scheduler
            .async()
            .queue(NAMESPACE, QUEUE)
            .claim(10, Duration.ofSeconds(1), Duration.ofMillis(100))
            .toCompletableFuture()
            .join();
    for (QueueFiring item : claimed) {
      log.began(
          item.firing().key(),
          item.firing().version(),
          item.firing().scheduledAt().toEpochMilli(),
          item.firing().attempt(),
          System.currentTimeMillis(),
          ByteBuffer.wrap(item.firing().payload()).getInt());
    }
    for (QueueFiring item : claimed) {
      end(item, random);
    }
  }

  /**
   * Ends a claim lease in one of the possible ways. {@link
   * io.timewheel.durable.testkit.RecordingStore} logs the successes.
   */
  private void end(QueueFiring item, @Nullable Random random) {
    try {
      switch (random == null ? 9 : random.nextInt(10)) {
        case 0 -> {
          LeaseResult ended =
              scheduler
                  .async()
                  .changeLease(
                      LeaseChange.nack(item.firing().fireId(), item.leaseToken(), "not now", null))
                  .toCompletableFuture()
                  .join();
          if (ended == LeaseResult.NOT_FOUND) {
            log.violation(item + ": claimed, and missing");
          }
        }
        case 1 ->
            scheduler
                .async()
                .changeLease(
                    LeaseChange.extend(
                        item.firing().fireId(), item.leaseToken(), Duration.ofSeconds(2)));
        case 2 -> {
          // The consumer does not answer: the claim lease expires.
        }
        default ->
            scheduler
                .async()
                .changeLease(LeaseChange.ack(item.firing().fireId(), item.leaseToken()))
                .toCompletableFuture()
                .join();
      }
    } catch (CompletionException e) {
      if (!(e.getCause() instanceof DurableTimerException)) {
        throw e;
      }
    }
  }
}
