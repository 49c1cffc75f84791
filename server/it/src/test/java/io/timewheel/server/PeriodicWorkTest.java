// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.node.PeriodicWork;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Quota;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.testing.Await;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Tests that an error does not end the periodic work of a server. */
@Timeout(120)
class PeriodicWorkTest {
  @TempDir private Path directory;

  @Test
  void aFailureIsLoggedOnceUntilASuccess() {
    Logger logger = (Logger) LoggerFactory.getLogger(PeriodicWork.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    AtomicInteger runs = new AtomicInteger();
    PeriodicWork work =
        new PeriodicWork(
            "the test",
            () -> {
              int run = runs.getAndIncrement();
              if (run == 0 || run == 3) {
                throw new OutOfMemoryError("of a test");
              } else if (run == 1) {
                throw new IllegalStateException("of a test");
              }
            });
    for (int i = 0; i < 4; i++) {
      work.run();
    }
    logger.detachAppender(log);
    assertThat(log.list).hasSize(2).extracting(ILoggingEvent::getLevel).containsOnly(Level.ERROR);
    assertThat(log.list.get(0).getFormattedMessage()).startsWith("the test failed");
  }

  @Test
  void theProbeOfTheStoreGoesOn() throws Exception {
    AtomicInteger probes = new AtomicInteger();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public @Nullable TimerRecord get(TimerKey key) {
            if (probes.getAndIncrement() == 1) {
              throw new NoClassDefFoundError("of a test");
            }
            return super.get(key);
          }
        };
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer scheduler = DurableTimer.builder(server.watch("failing", store)).start()) {
      server.serve(scheduler);
      Await.until(() -> probes.get() > 3);
    }
  }

  @Test
  void theWorkOfEachSecondGoesOn() throws Exception {
    AtomicBoolean failing = new AtomicBoolean(true);
    AtomicInteger checks = new AtomicInteger();
    InstantSource clock =
        () -> {
          if (Thread.currentThread().getName().equals("timewheel-pulse")) {
            checks.incrementAndGet();
            if (failing.getAndSet(false)) {
              throw new NoClassDefFoundError("of a test");
            }
          }
          return Instant.now();
        };
    Path file = directory.resolve("tokens");
    Tokens.NewToken wanted =
        new Tokens.NewToken("x", Set.of("read"), Set.of(), Duration.ofDays(1), Quota.NONE);
    String token = Tokens.add(file, wanted, clock);
    TimewheelServer server =
        TimewheelServer.start(
            ServerConfig.loopback(0),
            Tokens.open(file, Tokens.GRACE, clock),
            SecretSource.NONE,
            InstantSource.system());
    try (server;
        DurableTimer scheduler = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      server.serve(scheduler);
      // The server checks the token of an open stream each second.
      var stream =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(
                          URI.create("http://127.0.0.1:" + server.port() + "/v1/events"))
                      .header("Authorization", "Bearer " + token)
                      .build(),
                  BodyHandlers.ofInputStream());
      assertThat(stream.statusCode()).isEqualTo(200);
      Await.until(() -> checks.get() > 2);
      stream.body().close();
    }
  }
}
