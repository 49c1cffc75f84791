// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * The write of one part of an answer. A client that does not accept the part in time loses its
 * connection, because others need the memory, and firings in the answer wait for a consumer.
 * Thread-safe.
 */
final class PartWrite implements Callback {
  private final Callback written;
  private boolean ended;
  private Scheduler.@Nullable Task stall;

  private PartWrite(Callback written) {
    this.written = written;
  }

  /**
   * Writes a part.
   *
   * @param last true if the answer ends after it
   * @param maxStall the longest time for the client to accept it
   * @param written called at the end
   */
  static void write(
      Response response, boolean last, ByteBuffer part, Duration maxStall, Callback written) {
    ConnectionMetaData connection = response.getRequest().getConnectionMetaData();
    PartWrite write = new PartWrite(written);
    response.write(last, part, write);
    write.watch(connection, maxStall);
  }

  private synchronized void watch(ConnectionMetaData connection, Duration maxStall) {
    if (!ended) {
      stall =
          connection
              .getConnector()
              .getScheduler()
              .schedule(
                  () ->
                      connection
                          .getConnection()
                          .getEndPoint()
                          .close(
                              new TimeoutException(
                                  "the client read nothing of an answer for " + maxStall)),
                  maxStall.toMillis(),
                  TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void succeeded() {
    end();
    written.succeeded();
  }

  @Override
  public void failed(Throwable failure) {
    end();
    written.failed(failure);
  }

  private synchronized void end() {
    ended = true;
    if (stall != null) {
      stall.cancel();
    }
  }
}
