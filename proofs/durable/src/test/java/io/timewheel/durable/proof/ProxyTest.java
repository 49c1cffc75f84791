// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProxyTest {
  private static final int SILENCE_MILLIS = 100;
  private static final int TIMEOUT_MILLIS = 60_000;

  private ServerSocket listener;
  private Proxy proxy;
  private Socket node;
  private Socket server;

  @BeforeEach
  void connect() throws IOException {
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    proxy = new Proxy(listener.getLocalPort());
    node = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
    server = listener.accept();
    assertCarries(node, server);
    assertCarries(server, node);
  }

  @AfterEach
  void close() throws IOException {
    node.close();
    server.close();
    proxy.close();
    listener.close();
  }

  private static void assertCarries(Socket from, Socket to) throws IOException {
    from.getOutputStream().write(7);
    assertThat(read(to)).isEqualTo(7);
  }

  private static int read(Socket socket) throws IOException {
    socket.setSoTimeout(TIMEOUT_MILLIS);
    return socket.getInputStream().read();
  }

  private static void assertSilent(Socket socket) throws IOException {
    socket.setSoTimeout(SILENCE_MILLIS);
    assertThatThrownBy(() -> socket.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);
  }

  /** Verifies that a side sees its connection end, cleanly or not. */
  private static void assertEnds(Socket socket) {
    int last;
    try {
      last = read(socket);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("not told that the connection has ended", e);
    } catch (IOException e) {
      return;
    }
    assertThat(last).isEqualTo(-1);
  }

  @Test
  void carriesAnEnd() throws IOException {
    node.close();
    assertEnds(server);
  }

  @Test
  void delays() throws IOException {
    proxy.delay(SILENCE_MILLIS);
    long begin = System.nanoTime();
    assertCarries(node, server);
    assertCarries(server, node);
    assertThat(System.nanoTime() - begin).isGreaterThan(2 * SILENCE_MILLIS * 1_000_000L);
  }

  @Test
  void cutsBothSides() {
    proxy.cut();
    assertEnds(node);
    assertEnds(server);
    assertThat(proxy.connections()).isZero();
  }

  @Test
  void carriesNothingWhileItIsSilentAndEverythingAfterwards() throws IOException {
    proxy.silence(true);
    node.getOutputStream().write(8);
    assertSilent(server);
    proxy.silence(false);
    assertThat(read(server)).isEqualTo(8);
    assertCarries(server, node);
  }

  @Test
  void losesTheServerAndLeavesTheNodeWaiting() throws IOException {
    proxy.loseServer();
    assertEnds(server);
    node.getOutputStream().write(8);
    assertSilent(node);
  }

  @Test
  void losesTheNodeAndLeavesTheServerWaiting() throws IOException {
    proxy.loseNode();
    assertEnds(node);
    assertSilent(server);
  }

  @Test
  void refusesAndTakesConnectionsAgain() throws IOException {
    proxy.refuse(true);
    try (Socket refused = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
      assertEnds(refused);
    }
    proxy.refuse(false);
    try (Socket taken = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        Socket other = listener.accept()) {
      assertCarries(taken, other);
    }
  }
}
