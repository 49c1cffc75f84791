// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Claims ready timers of the queues of a simulation, and ends their leases or lets them expire. */
final class SimulatedConsumers {
  private final Random random;
  private final Supplier<DurableTimer> any;
  private final List<QueueFiring> held = new ArrayList<>();

  SimulatedConsumers(Random random, Supplier<DurableTimer> any) {
    this.random = random;
    this.any = any;
  }

  void step() {
    if (held.isEmpty() || random.nextInt(3) == 0) {
      String namespace =
          SimulatedCallers.NAMESPACES.get(random.nextInt(SimulatedCallers.NAMESPACES.size()));
      Duration lease = Duration.ofMillis(1_000 + random.nextInt(3_000));
      Duration wait = Duration.ofMillis(random.nextBoolean() ? 0 : random.nextInt(5_000));
      claim(any.get(), namespace, lease, wait, held::add);
      return;
    }
    QueueFiring item = held.remove(random.nextInt(held.size()));
    DurableTimer scheduler = any.get();
    switch (random.nextInt(8)) {
      case 0 ->
          scheduler
              .async()
              .changeLease(
                  LeaseChange.nack(item.firing().fireId(), item.leaseToken(), "not now", null));
      case 1 ->
          scheduler
              .async()
              .changeLease(
                  LeaseChange.nack(
                      item.firing().fireId(), item.leaseToken(), "later", Duration.ofSeconds(2)));
      case 2 -> {
        scheduler
            .async()
            .changeLease(
                LeaseChange.extend(
                    item.firing().fireId(), item.leaseToken(), Duration.ofSeconds(2)));
        held.add(item);
      }
      case 3 -> {
        // Not ended: the lease expires.
      }
      default ->
          scheduler.async().changeLease(LeaseChange.ack(item.firing().fireId(), item.leaseToken()));
    }
  }

  /** From now on, claims every ready timer, and every attempt succeeds. */
  void goOn() {
    SimulatedCallers.NAMESPACES.forEach(namespace -> goOn(any.get(), namespace));
  }

  private void goOn(DurableTimer scheduler, String namespace) {
    claim(
            scheduler,
            namespace,
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            item ->
                scheduler
                    .async()
                    .changeLease(LeaseChange.ack(item.firing().fireId(), item.leaseToken())))
        .thenRun(() -> goOn(scheduler, namespace));
  }

  private CompletionStage<Void> claim(
      DurableTimer scheduler,
      String namespace,
      Duration lease,
      Duration wait,
      Consumer<QueueFiring> taken) {
    return scheduler
        .async()
        .queue(namespace, SimulatedCallers.QUEUE)
        .claim(1 + random.nextInt(3), lease, wait)
        .thenAccept(claimed -> claimed.forEach(taken));
  }
}
