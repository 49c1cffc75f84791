// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.settings.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Tests items of batches that fail for an unexpected reason. */
class BatchFailureTest {
  private static final String NAMESPACE = "/v1/namespaces/shop/";
  private static final String SPEC = "\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";

  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(Exchange.class);
  private TimewheelServer server;
  private DurableTimer scheduler;

  private static final class BrokenStore extends ForwardingTimerStore {
    BrokenStore(TimerStore store) {
      super(store);
    }

    @Override
    public @Nullable TimerRecord get(TimerKey key) {
      if (key.id().equals("broken")) {
        throw new ArithmeticException("a fault");
      }
      return super.get(key);
    }

    @Override
    public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
      if (keys.stream().anyMatch(key -> key.id().equals("broken"))) {
        throw new StoreException(StoreException.Kind.REJECTED, "damaged", null);
      }
      return super.read(keys);
    }
  }

  @BeforeEach
  void start() throws IOException {
    server = TimewheelServer.start(ServerConfig.loopback(0));
    scheduler =
        DurableTimer.builder(server.watch("broken", new BrokenStore(InMemoryTimerStore.create())))
            .start();
    server.serve(scheduler);
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(log);
    server.close();
    scheduler.close();
  }

  private String post(String path, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + NAMESPACE + path))
            .header("Content-Type", "application/json")
            .header("X-Request-Id", "the-request")
            .timeout(Duration.ofMinutes(1))
            .POST(BodyPublishers.ofString(body))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
  }

  private void assertLogged(String path, String item) {
    assertThat(log.list)
        .singleElement()
        .satisfies(
            event -> {
              assertThat(event.getFormattedMessage())
                  .startsWith("POST " + NAMESPACE + path + " failed for \"" + item + "\", request")
                  .contains("request the-request from 127.0.0.1")
                  .doesNotContain("secret");
              assertThat(event.getThrowableProxy().getClassName()).contains("Exception");
            });
  }

  @Test
  void aTimerOfABatchThatFailsIsLogged() throws Exception {
    String answer =
        post(
            "timers:batch",
            "{\"timers\":[{\"id\":\"good\","
                + SPEC
                + ",{\"id\":\"broken\",\"payload\":\"secret\",\"ifMatch\":\"*\","
                + SPEC
                + "]}");
    assertThat(answer).contains("\"status\":201", "\"status\":500");
    assertLogged("timers:batch", "broken");
  }

  /** The answer refers to the log. */
  @Test
  void aLeaseOfABatchThatTheStoreRejectsIsLogged() throws Exception {
    String answer =
        post("firings:ack", "{\"firings\":[" + ack("broken") + "," + ack("none") + "]}");
    assertThat(answer).contains("\"status\":422", "\"status\":404");
    assertLogged("firings:ack", fireId("broken"));
  }

  private static String fireId(String id) {
    return new FireId(new TimerKey("shop", id), 1, 1).toString();
  }

  private static String ack(String id) {
    String lease = "\"leaseToken\":\"0123456789abcdef0123456789abcdef\"";
    return "{\"fireId\":\"" + fireId(id) + "\"," + lease + "}";
  }
}
