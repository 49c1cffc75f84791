// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import io.timewheel.durable.internal.attempt.HandlerThreads;
import io.timewheel.durable.internal.commit.StoreTasks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** The executors of a scheduler: those of the application, or else threads of its own. */
public final class EngineThreads {
  private final List<ExecutorService> owned = new ArrayList<>();
  private final EngineExecutors engine;
  private final Executor answers;

  /**
   * @param committers the number of commit lanes
   * @param store the executor of the application for store work; null for own threads
   * @param handlers the executor of the application for handlers; null for own threads
   * @param hasOtherThreads false if callers run the store work while they wait
   */
  public EngineThreads(
      int committers,
      @Nullable Executor store,
      @Nullable Executor handlers,
      boolean hasOtherThreads) {
    List<Executor> commits = new ArrayList<>();
    for (int i = 0; i < committers; i++) {
      commits.add(orOwn(store, "committer-" + i));
    }
    Executor outcomes = orOwn(store, "outcomes");
    StoreTasks.Executors tasks =
        new StoreTasks.Executors(
            orOwn(store, "store"), orOwn(store, "maintenance"), orOwn(store, "consumers"));
    Executor runner = handlers == null ? workers() : handlers;
    // The executor of handlers may be bounded, and full of handlers that wait for an answer.
    answers = handlers != null && hasOtherThreads ? workers() : runner;
    engine = new EngineExecutors(tasks, commits, outcomes, runner);
  }

  private Executor orOwn(@Nullable Executor store, String name) {
    return store != null
        ? store
        : own(
            Executors.newSingleThreadExecutor(
                work -> {
                  Thread thread = new Thread(work, "timewheel-durable-" + name);
                  thread.setDaemon(true);
                  return thread;
                }));
  }

  private Executor workers() {
    return own(HandlerThreads.create());
  }

  private ExecutorService own(ExecutorService service) {
    owned.add(service);
    return service;
  }

  public EngineExecutors engine() {
    return engine;
  }

  /** {@return the executor that completes stages of callers} */
  public Executor answers() {
    return answers;
  }

  /** {@return the executors to shut down at a close} */
  public List<ExecutorService> owned() {
    return owned;
  }
}
