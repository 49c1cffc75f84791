// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Locale;

/** One persistent connection, with one request at a time. It adds little load. */
final class Wire implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 120_000;
  private static final String LENGTH = "content-length:";

  private final Socket socket;
  private final InputStream in;

  /** The answer of a server. */
  record Answer(int status, String body) {
    String expect(int... statuses) throws IOException {
      for (int expected : statuses) {
        if (status == expected) {
          return body;
        }
      }
      throw new IOException("answered " + status + ": " + body);
    }
  }

  Wire(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
  }

  /** {@return the bytes of a request} */
  static byte[] request(String method, String path, String body) {
    byte[] content = body.getBytes(UTF_8);
    byte[] head =
        (method
                + " "
                + path
                + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: "
                + content.length
                + "\r\n\r\n")
            .getBytes(UTF_8);
    byte[] request = new byte[head.length + content.length];
    System.arraycopy(head, 0, request, 0, head.length);
    System.arraycopy(content, 0, request, head.length, content.length);
    return request;
  }

  Answer send(String method, String path, String body) throws IOException {
    socket.getOutputStream().write(request(method, path, body));
    String statusLine = line();
    int length = 0;
    for (String header = line(); !header.isEmpty(); header = line()) {
      String lower = header.toLowerCase(Locale.ROOT);
      if (lower.startsWith(LENGTH)) {
        length = Integer.parseInt(lower.substring(LENGTH.length()).strip());
      }
    }
    byte[] content = in.readNBytes(length);
    if (content.length < length) {
      throw new EOFException("an answer was cut short");
    }
    return new Answer(Integer.parseInt(statusLine.substring(9, 12)), new String(content, UTF_8));
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the server closed the connection");
      } else if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
