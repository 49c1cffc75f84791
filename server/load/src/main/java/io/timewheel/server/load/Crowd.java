// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * Many connections that have each sent one request, or nothing, and read what comes. One thread
 * serves all of them; not thread-safe.
 */
final class Crowd implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 16;

  private final int port;
  private final Selector selector;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

  /** What one connection has been sent so far. */
  private static final class Member {
    private final String wanted;
    private final StringBuilder text = new StringBuilder();
    private boolean got;

    Member(String wanted) {
      this.wanted = wanted;
    }

    /** {@return whether what it waits for has just come} */
    boolean take(String part) {
      if (got) {
        return false;
      }
      text.append(part);
      got = text.indexOf(wanted) >= 0;
      if (got) {
        text.setLength(0);
      }
      return got;
    }
  }

  Crowd(int port) throws IOException {
    this.port = port;
    selector = Selector.open();
  }

  /**
   * Connects one more.
   *
   * @param request what it sends; may be empty
   * @param wanted the text that it waits for
   */
  void add(byte[] request, String wanted) throws IOException {
    SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    ByteBuffer content = ByteBuffer.wrap(request);
    while (content.hasRemaining()) {
      channel.write(content);
    }
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ, new Member(wanted));
  }

  /**
   * Reads until enough have what they wait for.
   *
   * @param enough told how many have got it since this was called, after each look
   * @return how many that were
   */
  int readUntil(IntPredicate enough) throws IOException {
    int got = 0;
    while (!enough.test(got)) {
      selector.select(100);
      for (SelectionKey key : selector.selectedKeys()) {
        got += read(key) ? 1 : 0;
      }
      selector.selectedKeys().clear();
    }
    return got;
  }

  private boolean read(SelectionKey key) throws IOException {
    SocketChannel channel = (SocketChannel) key.channel();
    buffer.clear();
    if (channel.read(buffer) < 0) {
      throw new EOFException("the server closed a connection");
    }
    byte[] bytes = new byte[buffer.flip().remaining()];
    buffer.get(bytes);
    return ((Member) key.attachment()).take(new String(bytes, UTF_8));
  }

  @Override
  public void close() throws IOException {
    for (SelectionKey key : Set.copyOf(selector.keys())) {
      key.channel().close();
    }
    selector.close();
  }
}
