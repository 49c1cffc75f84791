// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.pattern.Requests;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The core of an RPC client. The peer answers the first request in time, the second too late, and
 * the third never, because the connection closes. The peer is a fake.
 */
public final class RpcClient {
  private RpcClient() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * request 1: pong
   * request 2: TimeoutException
   * request 2: the answer came late
   * request 3: IllegalStateException
   * in flight: 0
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(RpcClient::play);
  }

  static void play(Scene scene) throws InterruptedException {
    Requests<String> requests =
        Requests.<String>builder(scene.timer())
            .executor(scene.executor())
            .onLate((where, id, answer) -> scene.say("request " + id + ": the answer came late"))
            .build();
    Requests.Channel<String> connection = requests.channel();

    // Each request is registered before it is sent, so no answer can arrive earlier.
    CompletableFuture<?> first = report(scene, 1, connection.start(1, Duration.ofMillis(100)));
    CompletableFuture<?> second = report(scene, 2, connection.start(2, Duration.ofMillis(100)));

    connection.complete(1, "pong"); // the peer answers the first request at once
    first.join();
    scene.pass(150); // and the second one too late
    second.join();
    connection.complete(2, "pong");

    CompletableFuture<?> third = report(scene, 3, connection.start(3, Duration.ofSeconds(100)));
    connection.close(new IllegalStateException("the connection is closed"));
    third.join();
    scene.say("in flight: " + requests.size());
  }

  private static CompletableFuture<?> report(
      Scene scene, long id, CompletableFuture<String> answer) {
    return answer
        .exceptionally(error -> error.getClass().getSimpleName())
        .thenAccept(outcome -> scene.say("request " + id + ": " + outcome));
  }
}
