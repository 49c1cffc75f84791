// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.migrating;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.testkit.DurableTestkit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the loop about RabbitMQ in docs/migrate/queues.md on a broker; DocumentationTest compares
 * the two. It alone verifies that the loop takes messages out of a queue in which they wait.
 */
@Tag("proof")
@Timeout(120)
@SuppressWarnings({
  "FutureReturnValueIgnored", // the result is visible in the timer
  "JavaUtilDate" // the type of the client
})
final class RabbitMqMigrationTest {
  private static final Path SERVER = Path.of("/usr/lib/rabbitmq/bin/rabbitmq-server");

  private final DurableTestkit kit = DurableTestkit.create();
  private final DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), builder -> {});
  private final List<String> claimed = new ArrayList<>();

  @Test
  void movesWaitingMessages(@TempDir Path directory) throws Exception {
    ServerProcess.assumeInstalled("rabbitmq-server", SERVER);
    Instant sentAt = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    try (ServerProcess names = startNameServer();
        ServerProcess broker = startBroker(names.port(), directory);
        Connection connection = connect(broker.port());
        Channel channel = connection.createChannel()) {
      channel.queueDeclare("unpaid", true, false, false, null);
      channel.queueDeclare(
          "unpaid.wait",
          true,
          false,
          false,
          Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", "unpaid"));
      send(channel, "order-42", Duration.ofMinutes(30), sentAt);
      send(channel, "order-43", Duration.ofDays(20), sentAt);

      move(channel);

      assertThat(channel.messageCount("unpaid.wait")).isZero();
      assertThat(channel.messageCount("unpaid")).isZero();
    }

    assertThat(scheduler.timer("shop", "order-42").get().orElseThrow().dueAt())
        .isEqualTo(sentAt.plus(Duration.ofMinutes(30)).plusSeconds(1));
    scheduler.timer("shop", "order-42").runNow();
    kit.settle();
    scheduler
        .async()
        .queue("shop", "unpaid")
        .claim(10, Duration.ofSeconds(30), Duration.ZERO)
        .thenAccept(
            due ->
                due.forEach(
                    order ->
                        claimed.add(
                            order.firing().id() + new String(order.firing().payload(), UTF_8))));
    kit.settle();
    assertThat(claimed).containsExactly("order-42{}");
  }

  private void move(Channel channel) throws IOException {
    // begin
    for (GetResponse message = channel.basicGet("unpaid.wait", false);
        message != null;
        message = channel.basicGet("unpaid.wait", false)) {
      AMQP.BasicProperties properties = message.getProps();
      Instant sentAt = properties.getTimestamp().toInstant().plusSeconds(1); // whole seconds
      scheduler.schedule(
          TimerSpec.of("shop", properties.getMessageId())
              .at(sentAt.plusMillis(Long.parseLong(properties.getExpiration())))
              .queue("unpaid")
              .payload(message.getBody())
              .evenIfFinished());
      channel.basicAck(message.getEnvelope().getDeliveryTag(), false); // deletes it
    }
    // end
  }

  private static void send(Channel channel, String id, Duration delay, Instant at)
      throws IOException {
    AMQP.BasicProperties properties =
        new AMQP.BasicProperties.Builder()
            .messageId(id)
            .timestamp(Date.from(at))
            .expiration("" + delay.toMillis())
            .deliveryMode(2)
            .build();
    channel.basicPublish("", "unpaid.wait", properties, "{}".getBytes(UTF_8));
  }

  private static Connection connect(int port) throws IOException, TimeoutException {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setHost("127.0.0.1");
    factory.setPort(port);
    return factory.newConnection();
  }

  /** Starts the name server of Erlang. The broker would start one that outlives it. */
  private static ServerProcess startNameServer() throws IOException {
    int port = ServerProcess.freePort();
    return ServerProcess.start(
        port,
        Map.of(),
        "epmd running",
        "/usr/bin/epmd",
        "-d",
        "-address",
        "127.0.0.1",
        "-port",
        "" + port);
  }

  /** Starts a broker that leaves nothing outside a directory. */
  private static ServerProcess startBroker(int namesPort, Path directory) throws IOException {
    int port = ServerProcess.freePort();
    String node = "timewheel-" + port + "@localhost";
    Path plugins = Files.writeString(directory.resolve("enabled_plugins"), "[].\n");
    Map<String, String> environment =
        Map.of(
            "HOME",
            directory.toString(), // of the cookie
            "RABBITMQ_NODENAME",
            node,
            "RABBITMQ_NODE_IP_ADDRESS",
            "127.0.0.1",
            "RABBITMQ_NODE_PORT",
            "" + port,
            "RABBITMQ_DIST_PORT",
            "" + ServerProcess.freePort(),
            "ERL_EPMD_PORT",
            "" + namesPort,
            "ERL_EPMD_ADDRESS",
            "127.0.0.1",
            "RABBITMQ_MNESIA_BASE",
            directory.toString(),
            "RABBITMQ_LOG_BASE",
            directory.toString(),
            "RABBITMQ_ENABLED_PLUGINS_FILE",
            plugins.toString());
    return ServerProcess.start(port, environment, "completed with", SERVER.toString());
  }
}
