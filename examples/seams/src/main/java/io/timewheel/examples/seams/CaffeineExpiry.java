// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.seams;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Scheduler;
import io.timewheel.examples.Scene;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;

/**
 * A Caffeine cache that removes an entry when it expires, not at the next access to the cache.
 * Caffeine uses one timeout for the whole cache, which fires at most about once per second.
 */
public final class CaffeineExpiry {
  private CaffeineExpiry() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * after 1.5 s: 1 entry
   * removed ann: EXPIRED
   * after 4 s: 0 entries
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(CaffeineExpiry::play);
  }

  static void play(Scene scene) throws InterruptedException {
    ScheduledExecutorService scheduler = scene.scheduler();
    Cache<String, String> sessions =
        Caffeine.newBuilder()
            .scheduler(Scheduler.forScheduledExecutorService(scheduler))
            .executor(scene.executor())
            .ticker(scene.clock()::nanoTime)
            .expireAfterWrite(Duration.ofSeconds(2))
            .removalListener((name, session, cause) -> scene.say("removed " + name + ": " + cause))
            .build();

    sessions.put("ann", "session 1");
    scene.pass(1_500);
    scene.say("after 1.5 s: " + sessions.estimatedSize() + " entry"); // does not check expiry
    scene.pass(2_500);
    scene.say("after 4 s: " + sessions.estimatedSize() + " entries");
    scheduler.shutdown();
  }
}
