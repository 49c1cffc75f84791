// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.ManualExecutor;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Verifies executors of handlers that reject or drop tasks, or run them on the calling thread. */
class RefusingExecutorTest extends OnStand {
  @RegisterExtension private final LogLines log = new LogLines(Level.WARNING);

  private void refusedThenTaken(Runnable refuse, Runnable take) {
    start();
    refuse.run();
    for (int i = 0; i < 10; i++) {
      scheduler.schedule(spec("t" + i).after(Duration.ZERO));
    }
    advance(5_000);
    assertThat(fired).isEmpty();
    take.run();
    advance(1_100);
    assertThat(fired).hasSize(10).doesNotHaveDuplicates();
    assertThat(timer("t9").state()).isEqualTo(TimerState.COMPLETED);
    assertThat(timer("t9").attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.SUCCEEDED);
  }

  @Test
  void waitsForAnExecutorThatRejects() {
    refusedThenTaken(
        () -> stand.handlers.refusal = new RejectedExecutionException("full"),
        () -> stand.handlers.refusal = null);
  }

  @Test
  void waitsForAnExecutorThatHasNoThread() {
    refusedThenTaken(
        () -> stand.handlers.refusal = new OutOfMemoryError("unable to create native thread"),
        () -> stand.handlers.refusal = null);
  }

  /** A handler on the committing thread would wait forever for a commit. */
  @Test
  void runsNoHandlerOnTheSubmittingThread() {
    refusedThenTaken(
        () -> stand.handlers.runsAtOnce = true, () -> stand.handlers.runsAtOnce = false);
    assertThat(log.lines())
        .singleElement()
        .asString()
        .contains("the handler h", "handlerExecutor", "runs tasks on the calling thread");
  }

  /** Like a full pool with CallerRunsPolicy below a wrapper that logs the exceptions of tasks. */
  @Test
  void runsNoHandlerOnTheCallingThreadIfTheExecutorHidesExceptions() {
    stand.handlers.wrapper =
        task -> {
          try {
            task.run();
          } catch (RuntimeException e) {
            // The executor logs it itself.
          }
        };
    refusedThenTaken(
        () -> stand.handlers.runsAtOnce = true, () -> stand.handlers.runsAtOnce = false);
  }

  @Test
  void refusesToStartWithAnExecutorThatRunsTasksOnTheCallingThread() {
    stand.handlers.runsAtOnce = true;
    assertThatThrownBy(this::start)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "handlerExecutor: "
                + Stand.Runner.class.getName()
                + " runs tasks on the calling thread (expected: other threads, or a"
                + " RejectedExecutionException)");
  }

  @Test
  void startsWithAnExecutorThatIsFullAtThatTime() {
    stand.handlers.refusal = new RejectedExecutionException("full");
    start();
    stand.handlers.refusal = null;
    scheduler.schedule(spec("a").after(Duration.ZERO));
    advance(2_000);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void runsOnceATaskThatAnExecutorAcceptsAndThenRejects() {
    start();
    stand.handlers.lateRefusal = new RejectedExecutionException("too late");
    scheduler.schedule(spec("a").after(Duration.ZERO));
    scheduler.schedule(spec("b").after(Duration.ZERO));
    advance(100);
    stand.handlers.lateRefusal = null;
    advance(2_000);
    assertThat(fired).containsExactly("a", "b");
  }

  @Test
  void reportsThatTheExecutorOfTheStoreDropsTasks() {
    start();
    stand.storeWork.drops = true;
    var call = scheduler.async().schedule(spec("asked").after(Duration.ZERO)).toCompletableFuture();
    advance(5_000);
    stand.storeWork.drops = false;
    advance(125_000);
    assertThat(call).isNotDone();
    assertThat(log.lines())
        .anySatisfy(text -> assertThat(text).contains("store's executor", "does it drop tasks?"));
  }

  @Test
  void refusesAStoreExecutorThatRunsTasksOnTheCallingThread() {
    assertThatThrownBy(() -> stand.start(store, builder -> builder.storeExecutor(Runnable::run)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("storeExecutor: ")
        .hasMessageContaining("runs tasks on the calling thread");
  }

  /** Like a pool with CallerRunsPolicy that is sometimes full. */
  @Test
  void doesNoStoreWorkOnTheCallingThread() {
    ManualExecutor pool = new ManualExecutor();
    AtomicBoolean full = new AtomicBoolean();
    scheduler =
        stand.start(
            store,
            builder -> {
              settings(builder);
              builder.storeExecutor(
                  task -> {
                    if (full.get()) {
                      task.run();
                    } else {
                      pool.execute(task);
                    }
                  });
            });
    full.set(true);
    var refused =
        scheduler.async().schedule(spec("refused").after(Duration.ZERO)).toCompletableFuture();
    assertThatThrownBy(refused::join).hasRootCauseInstanceOf(RejectedExecutionException.class);
    full.set(false);
    var taken =
        scheduler.async().schedule(spec("taken").after(Duration.ZERO)).toCompletableFuture();
    for (int i = 0; i < 30; i++) {
      while (pool.runOne()) {
        // Until no work is left at this time.
      }
      advance(100);
    }
    taken.join();
    assertThat(fired).containsExactly("taken");
  }

  @Test
  void reportsThatAnExecutorDropsAttempts() {
    start();
    stand.handlers.drops = true;
    scheduler.schedule(spec("a").after(Duration.ZERO));
    advance(125_000);
    assertThat(log.lines()).anySatisfy(text -> assertThat(text).contains("does it drop tasks?"));
    assertThat(timer("a").state()).isEqualTo(TimerState.RUNNING);
    scheduler.close();
    stand = new Stand();
    scheduler = stand.start(store.reopen(), this::settings);
    advance(2_000);
    assertThat(fired).containsExactly("a");
  }
}
