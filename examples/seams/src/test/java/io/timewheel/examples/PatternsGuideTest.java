// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.pattern.Backoff;
import io.timewheel.pattern.Coalescer;
import io.timewheel.pattern.Expirations;
import io.timewheel.pattern.Heartbeats;
import io.timewheel.pattern.Leases;
import io.timewheel.pattern.Requests;
import io.timewheel.pattern.Retries;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** The code in docs/guides/patterns.md, which DocumentationTest compares. */
class PatternsGuideTest {
  private final ManualTimer timer = ManualTimer.create();
  private final Executor executor = Runnable::run;
  private final List<String> failed = new ArrayList<>();
  private final List<String> loaded = new ArrayList<>();

  private static final class Session {
    boolean open = true;

    void logOut() {
      open = false;
    }
  }

  private static final class Registry {
    private final List<String> registered = new ArrayList<>();

    void register(String url) {
      registered.add(url);
    }
  }

  @Test
  void aCompletedSessionDoesNotExpire() {
    Session session = new Session();
    // begin
    Expirations<String, Session> sessions =
        Expirations.create(timer, (id, expired) -> expired.logOut());

    sessions.add("s-1", session, Duration.ofMinutes(30));
    sessions.touch("s-1"); // on a message: 30 minutes from now
    Session ended = sessions.complete("s-1"); // null if it has expired
    // end
    assertThat(ended).isSameAs(session);
    timer.advanceBy(Duration.ofHours(1));
    assertThat(session.open).isTrue();
  }

  @Test
  void aCancelledRegistrationIsNotTried() {
    Registry registry = new Registry();
    // begin
    Retries<String> registrations =
        Retries.builder(timer, executor, (String url, int attempt) -> registry.register(url))
            .backoff(
                Backoff.exponential(Duration.ofMillis(500), Duration.ofSeconds(30))
                    .withFullJitter())
            .maxAttempts(20)
            .attemptTimeLimit(Duration.ofSeconds(5))
            .onExhausted((url, error) -> failed.add(url))
            .build();

    registrations.add("node-1"); // the first attempt follows the first delay
    registrations.cancel("node-1"); // no longer needed
    // end
    registrations.add("node-2");
    timer.advanceBy(Duration.ofSeconds(1));
    assertThat(registry.registered).containsExactly("node-2");
    assertThat(failed).isEmpty();
  }

  private void load(String file) {
    loaded.add(file);
  }

  @Test
  void manyCallsAreOneLoad() {
    // begin
    Coalescer<String> reload =
        Coalescer.debounced(timer, executor, Duration.ofMillis(200), this::load).build();
    reload.call("a.conf");
    reload.call("a.conf"); // one load, 200 ms after this call
    // end
    timer.advanceBy(Duration.ofMillis(200));
    assertThat(loaded).containsExactly("a.conf");
  }

  @Test
  void anAnswerCompletesItsRequest() {
    List<Long> late = new ArrayList<>();
    // begin
    Requests<String> requests =
        Requests.<String>builder(timer).onLate((where, id, answer) -> late.add(id)).build();
    Requests.Channel<String> connection = requests.channel();

    CompletableFuture<String> answer = connection.start(1, Duration.ofSeconds(3));
    connection.complete(1, "pong"); // when the answer arrives
    // end
    assertThat(answer).isCompletedWithValue("pong");
    connection.complete(1, "pong");
    assertThat(late).containsExactly(1L);
    requests.close();
  }

  @Test
  void anIdleConnectionIsPingedAndClosed() {
    List<String> pings = new ArrayList<>();
    List<String> closed = new ArrayList<>();
    // begin
    Heartbeats<String> heartbeats =
        Heartbeats.<String>builder(timer, executor)
            .onWriteIdle(Duration.ofSeconds(20), idle -> pings.add(idle.key()))
            .onReadIdle(Duration.ofSeconds(60), idle -> closed.add(idle.key()))
            .build();
    Heartbeats.Connection<String> peer = heartbeats.add("node-1");
    peer.read(); // on each message
    // end
    timer.advanceBy(Duration.ofSeconds(60));
    assertThat(pings).hasSizeBetween(2, 4).containsOnly("node-1");
    assertThat(closed).containsExactly("node-1");
    heartbeats.close();
  }

  private static final class Server {
    final List<String> unlocked = new ArrayList<>();

    Collection<String> renew(List<String> locks) {
      return locks;
    }

    void unlock(String lock) {
      unlocked.add(lock);
    }
  }

  @Test
  void aReleasedLeaseIsUnlocked() {
    Server server = new Server();
    List<String> lost = new ArrayList<>();
    // begin
    Leases<String> leases =
        Leases.builder(timer, executor, Duration.ofSeconds(30), server::renew)
            .onLost((lock, how) -> lost.add(lock))
            .build();
    leases.hold("orders");
    CompletableFuture<Boolean> unlocked = leases.release("orders", () -> server.unlock("orders"));
    // end
    assertThat(unlocked.toCompletableFuture()).isCompleted();
    assertThat(server.unlocked).containsExactly("orders");
    assertThat(lost).isEmpty();
    leases.close();
  }
}
