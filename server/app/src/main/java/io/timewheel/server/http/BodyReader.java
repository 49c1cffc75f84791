// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.problem.Problem;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of a request completely, and passes it on unless it is too large.
 *
 * <p>If the server closes a connection while its client still writes, the connection is reset and
 * the client never sees the answer. So a refused body is read too, unless it is large or its client
 * waits for {@code 100 Continue}, or the request is a GET.
 */
final class BodyReader<S extends Consumer<ByteBuffer>> {
  private static final long MAX_DISCARDED_BYTES = 64L << 20;

  /** The number of chunks of a body that arrived with its head: the content, and the end. */
  private static final int CHUNKS_WITH_HEAD = 2;

  private final Request request;
  private final int maxBytes;
  private final Duration limit;

  /** Receives the body; null if it is refused, so that its memory is free. */
  private @Nullable S sink;

  private int keptBytes;
  private long discardedBytes;
  private int chunks;
  private final CompletableFuture<S> all = new CompletableFuture<>();
  private final ByteBudget.@Nullable Reservation reserved;
  private @Nullable Problem refused;
  private Scheduler.@Nullable Task deadline;

  /**
   * Prepares to read a body. Only bytes that have arrived are reserved: a client may announce more
   * than it sends.
   *
   * @param reserved holds the bytes; the caller releases them
   * @param sink receives the bytes as they arrive
   */
  BodyReader(
      Request request,
      int maxBytes,
      Duration limit,
      ByteBudget.@Nullable Reservation reserved,
      @Nullable S sink) {
    this.request = request;
    this.reserved = reserved;
    this.sink = sink;
    this.maxBytes = maxBytes;
    this.limit = limit;
  }

  /** Refuses a request whose body is not JSON in UTF-8. */
  static void checkMediaType(Request request, String expected) {
    String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
    String[] parts =
        type == null ? new String[] {""} : type.toLowerCase(Locale.ROOT).split(";", -1);
    boolean ok = parts[0].strip().equals(expected);
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip().replace("\"", "");
      ok &= !parameter.startsWith("charset=") || parameter.equals("charset=utf-8");
    }
    if (!ok || request.getHeaders().contains(HttpHeader.CONTENT_ENCODING)) {
      throw Problem.of(
              415, "unsupported_media_type", "Content-Type (expected: " + expected + " in UTF-8)")
          .failure();
    }
  }

  /** Reads the rest of a refused body, then answers. */
  static void discard(Request request, Duration limit, Runnable answer) {
    if (request.getMethod().equals("GET") // its deadline answers on the thread of all deadlines
        || request.getLength() > MAX_DISCARDED_BYTES
        || request.getHeaders().contains(HttpHeader.EXPECT, "100-continue")) {
      answer.run();
    } else {
      var unused =
          new BodyReader<>(request, -1, limit, null, null)
              .read()
              .whenComplete((nothing, error) -> answer.run());
    }
  }

  /**
   * Reads the body.
   *
   * @return the sink, when the body is complete; fails with a problem if it is too large or broken,
   *     or if there is no memory for it
   */
  CompletableFuture<S> read() {
    go();
    return all;
  }

  private void go() {
    while (true) {
      Content.Chunk chunk = request.read();
      if (chunk == null || ++chunks > CHUNKS_WITH_HEAD) {
        startDeadline();
      }
      if (chunk == null) {
        request.demand(this::go);
        return;
      }
      if (Content.Chunk.isFailure(chunk)) {
        end(Problem.malformed("the body could not be read"));
        return;
      }
      keep(chunk);
      chunk.release();
      if (chunk.isLast() || discardedBytes > MAX_DISCARDED_BYTES) {
        end(refused);
        return;
      }
    }
  }

  /** Starts the deadline of the body unless it is running. One that arrived whole needs none. */
  private void startDeadline() {
    if (deadline == null) {
      deadline = closeAfter(request.getConnectionMetaData(), limit, "the body took more than ");
    }
  }

  /** Closes a connection after a time, unless the task is cancelled before. */
  static Scheduler.Task closeAfter(ConnectionMetaData connection, Duration time, String reason) {
    return connection
        .getConnector()
        .getScheduler()
        .schedule(
            () ->
                connection.getConnection().getEndPoint().close(new TimeoutException(reason + time)),
            time.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  private void keep(Content.Chunk chunk) {
    int more = chunk.remaining();
    if (refused == null && keptBytes + (long) more > maxBytes) {
      refused = Problem.tooLarge("the body", maxBytes);
    } else if (refused == null && reserved != null && !reserved.reserve(more)) {
      refused = noMemory();
    }
    if (refused != null) {
      discardedBytes += more;
      sink = null;
      if (reserved != null) {
        reserved.release();
      }
    } else {
      requireNonNull(sink).accept(chunk.getByteBuffer());
      keptBytes += more;
    }
  }

  static Problem noMemory() {
    return Problem.busy("too many bytes of bodies are in memory");
  }

  private void end(@Nullable Problem problem) {
    if (deadline != null) {
      deadline.cancel();
    }
    if (problem == null) {
      all.complete(requireNonNull(sink));
    } else {
      all.completeExceptionally(problem.failure());
    }
  }
}
