// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingCallback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/** Writes a large answer in parts, and frees each part after it is written. */
final class AnswerWriter extends IteratingCallback {
  /** The JDK copies each part into direct memory, and each thread keeps its largest copy. */
  static final int MAX_PART_BYTES = 64 * 1024;

  private final Queue<ByteBuffer> parts;
  private final Response response;
  private final Duration maxStall;
  private final ByteBudget.Reservation reserved;
  private final Callback written;

  private int writing;

  /**
   * Prepares to write.
   *
   * @param content the content in parts of at most {@link #MAX_PART_BYTES}
   */
  AnswerWriter(
      Response response,
      List<ByteBuffer> content,
      ByteBudget.Reservation reserved,
      Duration maxStall,
      Callback written) {
    this.parts = new ArrayDeque<>(content);
    this.response = response;
    this.reserved = reserved;
    this.maxStall = maxStall;
    this.written = written;
  }

  /**
   * Writes a part of an answer. A client that does not accept the part in time loses its
   * connection, because others need the memory, and firings in the answer wait for a consumer.
   *
   * @param last true if the answer ends after it
   * @param maxStall the longest time for the client to accept it
   * @param written called at the end
   */
  static void write(
      Response response, boolean last, ByteBuffer part, Duration maxStall, Callback written) {
    ConnectionMetaData connection = response.getRequest().getConnectionMetaData();
    Callback.Completable end = new Callback.Completable();
    response.write(last, part, Callback.combine(end, written));
    if (!end.isDone()) {
      Scheduler.Task stall =
          BodyReader.closeAfter(connection, maxStall, "the client read nothing of an answer for ");
      var unused = end.whenComplete((nothing, failure) -> stall.cancel());
    }
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
    write(response, parts.isEmpty(), part, maxStall, this);
    return Action.SCHEDULED;
  }

  @Override
  protected void onSuccess() {
    reserved.release(writing);
  }

  @Override
  protected void onCompleted(@Nullable Throwable failure) {
    parts.clear();
    reserved.release();
    if (failure == null) {
      written.succeeded();
    } else {
      written.failed(failure);
    }
  }
}
