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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Many connections that have each sent one request, or none, and read the answers. One thread
 * serves all of them. Not thread-safe.
 */
final class Crowd implements AutoCloseable {
  /** The timeout: much longer than a slow machine stalls. */
  private static final long TIMEOUT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** Matches a claim that was answered empty, because its wait ended. */
  private static final Pattern NOTHING = Pattern.compile("\"firings\":\\[\\]\\}");

  private final int port;
  private final Selector selector = Selector.open();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);

  /** One connection: its request, and the received bytes that were not read yet. */
  private static final class Member {
    private final byte[] request;
    private final StringBuilder text = new StringBuilder();
    private boolean waits;

    Member(byte[] request) {
      this.request = request;
    }
  }

  Crowd(int port) throws IOException {
    this.port = port;
  }

  /** Opens connections, which all send the same request. */
  void add(int count, byte[] request) throws IOException {
    for (int i = 0; i < count; i++) {
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.configureBlocking(false);
      send(channel, request);
      channel.register(selector, SelectionKey.OP_READ, new Member(request));
    }
  }

  private static void send(SocketChannel channel, byte[] request) throws IOException {
    ByteBuffer content = ByteBuffer.wrap(request);
    while (content.hasRemaining()) { // a connection's buffer has room for a request
      channel.write(content);
    }
  }

  /**
   * Reads until every connection has received a match.
   *
   * @param wanted the expected content; a claim that is answered empty is sent again
   * @return the matches, one for each connection
   */
  List<String> await(Pattern wanted) throws IOException {
    long beganNanos = System.nanoTime();
    List<String> found = new ArrayList<>();
    selector.keys().forEach(key -> ((Member) key.attachment()).waits = true);
    while (found.size() < selector.keys().size()) {
      if (System.nanoTime() - beganNanos > TIMEOUT_NANOS) {
        throw new IOException(
            "%d of %d were sent %s".formatted(found.size(), selector.keys().size(), wanted));
      }
      selector.select(100);
      for (SelectionKey key : selector.selectedKeys()) {
        read(key, wanted, found);
      }
      selector.selectedKeys().clear();
    }
    return found;
  }

  private void read(SelectionKey key, Pattern wanted, List<String> found) throws IOException {
    SocketChannel channel = (SocketChannel) key.channel();
    Member member = (Member) key.attachment();
    if (channel.read(buffer.clear()) < 0) {
      throw new EOFException("the server closed a connection, after: " + member.text);
    }
    if (!member.waits) {
      return;
    }
    member.text.append(UTF_8.decode(buffer.flip()));
    Matcher matcher = wanted.matcher(member.text);
    if (matcher.find()) {
      found.add(matcher.group());
      member.waits = false;
      member.text.setLength(0);
    } else if (NOTHING.matcher(member.text).find()) {
      member.text.setLength(0);
      send(channel, member.request);
    }
  }

  @Override
  public void close() throws IOException {
    for (SelectionKey key : Set.copyOf(selector.keys())) {
      key.channel().close();
    }
    selector.close();
  }
}
