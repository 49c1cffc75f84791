// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import org.apache.pulsar.client.api.BatchReceivePolicy;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.apache.pulsar.common.api.proto.CommandLookupTopicResponse.LookupType;
import org.apache.pulsar.common.protocol.Commands;
import org.apache.pulsar.shade.io.netty.buffer.ByteBuf;
import org.apache.pulsar.shade.io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** Consumes a topic without messages, so that each batch ends with the timeout of its policy. */
final class PulsarApplication {
  private PulsarApplication() {}

  /** The batch has ended without a message. */
  private static final class EmptyBatch extends Exception {
    private static final long serialVersionUID = 1;
  }

  public static void main(String[] arguments) throws Exception {
    try (ServerSocket server = UnansweredRequests.silentServer()) {
      String url = "pulsar://127.0.0.1:" + server.getLocalPort();
      Thread broker = new Thread(() -> serve(server, url), "broker");
      broker.start();
      try (PulsarClient client = PulsarClient.builder().serviceUrl(url).build();
          Consumer<byte[]> consumer =
              client
                  .newConsumer()
                  .topic("topic")
                  .subscriptionName("subscription")
                  .batchReceivePolicy(
                      BatchReceivePolicy.builder()
                          .maxNumMessages(10)
                          .timeout((int) UnansweredRequests.LIMIT.toMillis(), MILLISECONDS)
                          .build())
                  .subscribe()) {
        UnansweredRequests.send(
            () ->
                consumer
                    .batchReceiveAsync()
                    .thenCompose(
                        batch ->
                            batch.size() == 0
                                ? CompletableFuture.failedFuture(new EmptyBatch())
                                : CompletableFuture.completedFuture(batch)),
            EmptyBatch.class);
      }
    }
  }

  /** Answers the commands that a consumer sends. */
  private static void serve(ServerSocket server, String url) {
    while (!server.isClosed()) {
      try (Socket socket = server.accept();
          DataInputStream in = new DataInputStream(socket.getInputStream())) {
        while (true) {
          byte[] frame = in.readNBytes(in.readInt());
          ByteBuf bytes = Unpooled.wrappedBuffer(frame);
          BaseCommand command = new BaseCommand();
          command.parseFrom(bytes, bytes.readInt());
          ByteBuf answer = answer(command, url);
          if (answer != null) {
            answer.readBytes(socket.getOutputStream(), answer.readableBytes());
          }
        }
      } catch (IOException e) {
        // The client or the server has closed the connection.
      }
    }
  }

  private static @Nullable ByteBuf answer(BaseCommand command, String url) {
    return switch (command.getType()) {
      case CONNECT -> Commands.newConnected(command.getConnect().getProtocolVersion(), false);
      case PARTITIONED_METADATA ->
          Commands.newPartitionMetadataResponse(0, command.getPartitionMetadata().getRequestId());
      case LOOKUP ->
          Commands.newLookupResponse(
              url, null, true, LookupType.Connect, command.getLookupTopic().getRequestId(), false);
      case SUBSCRIBE -> Commands.newSuccess(command.getSubscribe().getRequestId());
      case CLOSE_CONSUMER -> Commands.newSuccess(command.getCloseConsumer().getRequestId());
      case PING -> Commands.newPong();
      default -> null;
    };
  }
}
