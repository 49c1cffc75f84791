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
 * Notices that a client hangs up while its request waits. Jetty does not read a connection of
 * HTTP/1 between the end of a request and its answer, so it would learn of it from a failed write
 * only, and the first write to a closed connection does not fail.
 *
 * <p>Until {@link #release}, reading is done here and never there; what a client sends ahead is
 * handed over to Jetty.
 */
public final class HangupWatch implements Callback {
  private static final int AHEAD_BYTES = 4_096;

  private final Connection connection;
  private final Runnable hungUp;
  private boolean released;

  public HangupWatch(Request request, Runnable hungUp) {
    connection = request.getConnectionMetaData().getConnection();
    this.hungUp = hungUp;
  }

  public void watch() {
    EndPoint endPoint = connection.getEndPoint();
    if (endPoint instanceof AbstractEndPoint && connection instanceof Connection.UpgradeTo) {
      endPoint.tryFillInterested(this);
    }
  }

  /** From now on, the connection is Jetty's again. */
  public void release() {
    synchronized (this) {
      released = true;
    }
    if (connection.getEndPoint() instanceof AbstractEndPoint endPoint) {
      endPoint.getFillInterest().onFail(new CancellationException());
    }
  }

  /** There is something to read, or an end. */
  @Override
  public void succeeded() {
    boolean gone = false;
    synchronized (this) {
      if (released) {
        return; // Jetty reads before it waits
      }
      ByteBuffer ahead = BufferUtil.allocate(AHEAD_BYTES);
      try {
        int read = connection.getEndPoint().fill(ahead);
        gone = read < 0;
        if (read > 0) {
          ((Connection.UpgradeTo) connection).onUpgradeTo(ahead);
        } else if (read == 0) {
          watch();
        }
      } catch (IOException e) {
        gone = true;
      }
    }
    if (gone) {
      hungUp.run();
    }
  }

  @Override
  public void failed(Throwable failure) {
    if (!(failure instanceof CancellationException)) {
      hungUp.run();
    }
  }
}
