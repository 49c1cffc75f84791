// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks.database;

import io.timewheel.durable.benchmarks.database.FloorTables.Batch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Callers that wait for each of their timers, and committers that take all waiting timers at once.
 */
final class GroupCommit {
  private record Call(int number, CompletableFuture<Void> answer) {}

  private GroupCommit() {}

  static void run(List<FloorTables> tables, int callers, int timers, ExecutorService threads)
      throws Exception {
    List<BlockingQueue<Call>> queues = new ArrayList<>();
    AtomicInteger next = new AtomicInteger();
    List<Future<?>> committers = new ArrayList<>();
    for (FloorTables own : tables) {
      BlockingQueue<Call> queue = new ArrayBlockingQueue<>(callers);
      queues.add(queue);
      Callable<Void> commit = () -> commit(own, queue);
      committers.add(threads.submit(commit));
    }
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < callers; i++) {
      Callable<Void> call =
          () -> {
            for (int n = next.getAndIncrement(); n < timers; n = next.getAndIncrement()) {
              Call made = new Call(n, new CompletableFuture<>());
              queues.get(n % queues.size()).put(made);
              made.answer.get();
            }
            return null;
          };
      all.add(threads.submit(call));
    }
    for (Future<?> caller : all) {
      caller.get();
    }
    committers.forEach(committer -> committer.cancel(true));
  }

  private static Void commit(FloorTables tables, BlockingQueue<Call> queue) throws Exception {
    List<Call> group = new ArrayList<>();
    while (true) {
      group.add(queue.take());
      queue.drainTo(group);
      try {
        tables.upsert(Batch.ofAll(group.stream().mapToInt(Call::number).sorted().toArray()));
        tables.connection().commit();
        group.forEach(call -> call.answer.complete(null));
      } catch (Exception e) {
        group.forEach(call -> call.answer.completeExceptionally(e));
      }
      group.clear();
    }
  }
}
