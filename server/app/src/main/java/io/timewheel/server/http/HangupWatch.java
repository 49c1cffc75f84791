// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CancellationException;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;

/**
 * Detects that a client closes its connection while its request waits. In HTTP/1, Jetty does not
 * read a connection between the end of a request and its answer. So Jetty would detect the close
 * only by a failed write, and the first write to a closed connection does not fail.
 *
 * <p>Until {@link #release}, only this class reads the connection. Data that the client sends early
 * is passed to Jetty.
 */
public final class HangupWatch implements Callback {
  /** The size of a connection's buffer. Data beyond it would be lost. */
  private static final int AHEAD_BYTES = HttpListener.INPUT_BUFFER_BYTES;

  private final Connection connection;
  private final Runnable hungUp;
  private boolean released;

  public HangupWatch(Request request, Runnable hungUp) {
    connection = request.getConnectionMetaData().getConnection();
    this.hungUp = hungUp;
  }

  public void watch() {
    EndPoint endPoint = connection.getEndPoint();
    if (endPoint instanceof AbstractEndPoint
        && connection instanceof Connection.UpgradeTo
        && connection instanceof Connection.UpgradeFrom) {
      endPoint.tryFillInterested(this);
    }
  }

  /** Returns the connection to Jetty. */
  public void release() {
    synchronized (this) {
      released = true;
    }
    if (connection.getEndPoint() instanceof AbstractEndPoint endPoint) {
      endPoint.getFillInterest().onFail(new CancellationException());
    }
  }

  /** Reads the connection when there is data, or when it was closed. */
  @Override
  public void succeeded() {
    boolean gone;
    synchronized (this) {
      if (released) {
        return; // Jetty reads before it waits
      }
      try {
        gone = !read();
      } catch (IOException e) {
        gone = true;
      }
    }
    if (gone) {
      hungUp.run();
    }
  }

  /**
   * Reads into the buffer from which Jetty takes the next request, as far as there is room. The
   * rest stays in the socket, so the client has to wait. Then a closed connection is not detected.
   *
   * @return false at the end of the connection
   */
  private boolean read() throws IOException {
    ByteBuffer kept = ((Connection.UpgradeFrom) connection).onUpgradeFrom();
    ByteBuffer ahead =
        BufferUtil.allocate(Math.max(AHEAD_BYTES, kept == null ? 0 : kept.remaining()));
    if (kept != null) {
      BufferUtil.append(ahead, kept);
    }
    boolean open = true;
    try {
      open = BufferUtil.space(ahead) == 0 || connection.getEndPoint().fill(ahead) >= 0;
    } finally {
      boolean full = BufferUtil.space(ahead) == 0;
      if (ahead.hasRemaining()) {
        ((Connection.UpgradeTo) connection).onUpgradeTo(ahead);
      }
      if (open && !full) {
        watch();
      }
    }
    return open;
  }

  @Override
  public void failed(Throwable failure) {
    if (!(failure instanceof CancellationException)) {
      hungUp.run();
    }
  }
}
