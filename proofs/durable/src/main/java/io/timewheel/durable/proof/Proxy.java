// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A network between a node and its database that can be slow, cut, or silent. It does not parse the
 * data.
 *
 * <p>A silent connection is open on both sides and carries nothing. A half-open connection is open
 * on one side only, which does not see that the other side has closed.
 */
final class Proxy implements AutoCloseable {
  private final ServerSocket listener;
  private final int target;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private volatile long delayMillis;
  private volatile boolean refusing;
  private boolean silent;

  /**
   * Opens a proxy.
   *
   * @param target the port on the loopback interface to connect to
   */
  Proxy(int target) throws IOException {
    this.target = target;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon("proxy-" + port(), this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Returns the number of connections that are open on at least one side. */
  int connections() {
    return links.size();
  }

  /** Delays all data from now on, in both directions. */
  void delay(long millis) {
    delayMillis = millis;
  }

  /** Sets whether new connections are closed at once. */
  void refuse(boolean refuses) {
    refusing = refuses;
  }

  /**
   * Sets whether data is held back. Held data is delivered later, if the connection still exists.
   */
  synchronized void silence(boolean begins) {
    silent = begins;
    notifyAll();
  }

  /** Closes all connections on both sides. */
  void cut() {
    links.forEach(Link::close);
  }

  /** Closes all connections on the side of the server. The node does not see it. */
  void loseServer() {
    links.forEach(link -> link.lose(link.server));
  }

  /**
   * Closes all connections on the side of the node. The server does not see it, and keeps its
   * locks.
   */
  void loseNode() {
    links.forEach(link -> link.lose(link.node));
  }

  private synchronized void awaitSound() throws InterruptedException {
    while (silent) {
      wait();
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket node = listener.accept();
        if (refusing) {
          node.close();
        } else {
          open(node);
        }
      } catch (IOException e) {
        // The server is down, or this proxy is closed.
      }
    }
  }

  private void open(Socket node) throws IOException {
    Socket server;
    try {
      server = new Socket(InetAddress.getLoopbackAddress(), target);
    } catch (IOException e) {
      node.close();
      throw e;
    }
    node.setTcpNoDelay(true);
    server.setTcpNoDelay(true);
    Link link = new Link(node, server);
    links.add(link);
    daemon("proxy-in", () -> link.carry(node, server));
    daemon("proxy-out", () -> link.carry(server, node));
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // The proxy is closed.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    silence(false);
    cut();
  }

  /** One connection. */
  private final class Link {
    private static final int BUFFER_BYTES = 16_384;

    private final Socket node;
    private final Socket server;
    private volatile boolean halfOpen;

    Link(Socket node, Socket server) {
      this.node = node;
      this.server = server;
    }

    void carry(Socket from, Socket to) {
      byte[] buffer = new byte[BUFFER_BYTES];
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          awaitSound();
          Thread.sleep(delayMillis);
          if (!halfOpen) {
            out.write(buffer, 0, n); // otherwise the receiver is gone
          }
        }
      } catch (IOException e) {
        // One of the sides is closed.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (!halfOpen || !from.isClosed()) {
        close(); // in the second case, the remaining side has given up
      }
    }

    void lose(Socket side) {
      halfOpen = true;
      Proxy.close(side);
    }

    void close() {
      Proxy.close(node);
      Proxy.close(server);
      links.remove(this);
    }
  }
}
