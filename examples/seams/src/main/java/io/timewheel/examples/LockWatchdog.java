// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.pattern.Leases;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Holds two locks, with a lease of 300 ms, for longer than that. The watchdog renews both in one
 * call, and reports a lost lock. The server is a fake.
 */
public final class LockWatchdog {
  private LockWatchdog() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * holding orders and stock
   * lost stock: REFUSED
   * unlocked orders
   * locked at the server: []
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(LockWatchdog::play);
  }

  static void play(Scene scene) throws InterruptedException {
    Server server = new Server();
    Leases<String> leases =
        Leases.builder(scene.timer(), scene.executor(), Duration.ofMillis(300), server::renew)
            .onLost((lock, how) -> scene.say("lost " + lock + ": " + how))
            .build();
    for (String lock : List.of("orders", "stock")) {
      server.locked.add(lock);
      leases.hold(lock);
    }
    scene.pass(1_000);
    scene.say("holding orders and stock");

    server.locked.remove("stock"); // the server has lost it
    scene.pass(300);

    leases
        .release(
            "orders",
            () -> {
              server.locked.remove("orders"); // no renewal is in progress
              scene.say("unlocked orders");
            })
        .join();
    scene.say("locked at the server: " + server.locked);
    leases.close();
  }

  private static final class Server {
    final Set<String> locked = ConcurrentHashMap.newKeySet();

    Collection<String> renew(List<String> locks) {
      return locks.stream().filter(locked::contains).toList();
    }
  }
}
