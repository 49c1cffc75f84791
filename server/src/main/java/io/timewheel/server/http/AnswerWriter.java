// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingCallback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Writes a large answer in parts, and frees each part after it is written. A client that accepts no
 * part for too long loses its connection, because others need the memory.
 */
final class AnswerWriter extends IteratingCallback {
  /** The JDK copies each part into direct memory, and each thread keeps its largest copy. */
  static final int MAX_PART_BYTES = 64 * 1024;

  private final Queue<ByteBuffer> parts;
  private final ConnectionMetaData connection;
  private final Response response;
  private final Duration maxStall;
  private final ByteBudget.Reservation reserved;
  private final Callback written;

  /** False for a single part, which the idle timeout of the connection limits. */
  private final boolean watched;

  private int writing;
  private Scheduler.@Nullable Task stall;

  /**
   * Prepares to write.
   *
   * @param content the content in parts of at most {@link #MAX_PART_BYTES}
   * @param reserved the reserved bytes of the content
   * @param maxStall the longest time in which a client accepts no part
   * @param written called at the end
   */
  AnswerWriter(
      Request request,
      Response response,
      List<ByteBuffer> content,
      ByteBudget.Reservation reserved,
      Duration maxStall,
      Callback written) {
    this.parts = new ArrayDeque<>(content);
    this.connection = request.getConnectionMetaData();
    this.response = response;
    this.reserved = reserved;
    this.maxStall = maxStall;
    this.written = written;
    watched = content.size() > 1;
  }

  /** {@return content in parts, each of which can be freed} */
  static List<ByteBuffer> parts(byte[] content) {
    if (content.length <= MAX_PART_BYTES) {
      return List.of(ByteBuffer.wrap(content));
    }
    List<ByteBuffer> parts = new ArrayList<>();
    for (int at = 0; at < content.length; at += MAX_PART_BYTES) {
      int end = Math.min(content.length, at + MAX_PART_BYTES);
      parts.add(ByteBuffer.wrap(Arrays.copyOfRange(content, at, end)));
    }
    return parts;
  }

  @Override
  protected Action process() {
    ByteBuffer part = parts.poll();
    if (part == null) {
      return Action.SUCCEEDED;
    }
    writing = part.remaining();
    if (watched) {
      stall =
          connection
              .getConnector()
              .getScheduler()
              .schedule(this::stalled, maxStall.toMillis(), TimeUnit.MILLISECONDS);
    }
    response.write(parts.isEmpty(), part, this);
    return Action.SCHEDULED;
  }

  private void stalled() {
    connection
        .getConnection()
        .getEndPoint()
        .close(new TimeoutException("the client read nothing of an answer for " + maxStall));
  }

  @Override
  protected void onSuccess() {
    end();
    reserved.release(writing);
  }

  @Override
  protected void onCompleted(@Nullable Throwable failure) {
    end();
    parts.clear();
    reserved.release();
    if (failure == null) {
      written.succeeded();
    } else {
      written.failed(failure);
    }
  }

  private void end() {
    Scheduler.Task task = stall;
    if (task != null) {
      task.cancel();
    }
  }
}
