// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.event;

import io.timewheel.server.json.Json;
import io.timewheel.server.node.ChangeFeed;
import io.timewheel.server.security.Scope;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * What one client is told, and how far it has come in the feed. It holds a place in the feed, the
 * latest figures, and one chunk that is being written; so a client that does not read costs that
 * much and no more.
 *
 * <p>A client is sent {@link #BURST} changes at once, and {@link #PER_SECOND} a second in the long
 * run. What is more, and what has left the feed before the client could take it, is dropped, which
 * it is told once a second.
 *
 * <p>Its time is that of {@link #pulse}, ten times a second.
 */
public final class EventStream {
  /** What there is to be told. */
  public enum Topic {
    STATS,
    TIMER,
    CLUSTER,
    DROPPED
  }

  /** The connection, as this class needs it. */
  public interface Out {
    /** Writes a chunk; not called before the one before was written. */
    void write(byte[] chunk, Callback written);

    /** Ends the answer well, once all is written. */
    void end();

    /** Closes the connection at once. */
    void abort(Throwable failure);
  }

  public static final int PULSES_PER_SECOND = 10;
  static final int PER_SECOND = 200;
  static final int BURST = 1_000;

  private static final int CHANGES_PER_CHUNK = 250;
  private static final int PING_PULSES = 15 * PULSES_PER_SECOND;
  private static final byte[] PING = ": ping\n\n".getBytes(StandardCharsets.UTF_8);

  private final Scope scope;
  private final Set<Topic> types;
  private final ChangeFeed feed;
  private final Out out;

  private long cursor;
  private int allowance;
  private long dropped;
  private boolean droppedUnknown;
  private byte @Nullable [] stats;
  private byte @Nullable [] cluster;
  private boolean writing;
  private boolean ended;
  private int quietPulses;
  private int pulsesSinceDropped = PULSES_PER_SECOND;

  /**
   * A stream that begins now, or where another one ended.
   *
   * @param scope whose timers it tells of
   * @param types what it tells
   * @param feed the changes
   * @param out the connection
   * @param lastId the id of the last event that the client has; null to begin now
   */
  public EventStream(
      Scope scope, Set<Topic> types, ChangeFeed feed, Out out, @Nullable String lastId) {
    this.scope = scope;
    this.types = types;
    this.feed = feed;
    this.out = out;
    long next = feed.next();
    if (lastId == null || lastId.isEmpty()) {
      cursor = next;
    } else {
      long resumeAt = feed.resumeAt(lastId);
      cursor = Math.max(resumeAt, feed.oldest());
      droppedUnknown = resumeAt < cursor;
    }
    // What a client missed while it was away is not held against it.
    allowance = BURST + (int) (next - cursor);
  }

  public Scope scope() {
    return scope;
  }

  public boolean tells(Topic type) {
    return types.contains(type);
  }

  /** Sends figures with the next chunk, in place of older ones. */
  public synchronized void stats(byte[] json) {
    stats = json;
  }

  /** Sends the state of the cluster with the next chunk, in place of an older one. */
  public synchronized void cluster(byte[] json) {
    cluster = json;
  }

  /** Begins the answer, unless a pulse has, so that the client knows that it listens. */
  public synchronized void begin() {
    if (!writing && !ended) {
      byte[] chunk = chunk(new FeedSlices(feed));
      write(chunk.length == 0 ? PING : chunk);
    }
  }

  /** A tenth of a second has passed. */
  public synchronized void pulse(FeedSlices slices) {
    allowance = Math.max(allowance, Math.min(BURST, allowance + PER_SECOND / PULSES_PER_SECOND));
    pulsesSinceDropped++;
    quietPulses++;
    if (!writing && !ended) {
      byte[] chunk = chunk(slices);
      if (chunk.length == 0 && quietPulses >= PING_PULSES) {
        chunk = PING;
      }
      if (chunk.length > 0) {
        write(chunk);
      }
    }
  }

  private byte[] chunk(FeedSlices slices) {
    ByteArrayOutputStream chunk = new ByteArrayOutputStream();
    if (tells(Topic.TIMER)) {
      changes(slices, chunk);
    }
    if ((dropped > 0 || droppedUnknown) && pulsesSinceDropped >= PULSES_PER_SECOND) {
      pulsesSinceDropped = 0;
      String count = droppedUnknown ? "{}" : "{\"count\":" + dropped + "}";
      message(chunk, Topic.DROPPED, count.getBytes(StandardCharsets.UTF_8));
      dropped = 0;
      droppedUnknown = false;
    }
    if (stats != null) {
      message(chunk, Topic.STATS, stats);
      stats = null;
    }
    if (cluster != null) {
      message(chunk, Topic.CLUSTER, cluster);
      cluster = null;
    }
    return chunk.toByteArray();
  }

  private void changes(FeedSlices slices, ByteArrayOutputStream chunk) {
    long oldest = feed.oldest();
    if (cursor < oldest) { // how many of those were for this client, nobody knows any more
      droppedUnknown |= !scope.equals(Scope.ALL);
      dropped += oldest - cursor;
      cursor = oldest;
    }
    FeedSlices.Slice slice = slices.slice(scope, cursor, Math.min(allowance, CHANGES_PER_CHUNK));
    chunk.writeBytes(slice.messages());
    allowance -= slice.count();
    cursor = slice.next();
    if (allowance == 0) {
      FeedSlices.Slice rest = slices.rest(scope, cursor);
      dropped += rest.count();
      cursor = rest.next();
    }
  }

  /** Each event says how far in the feed its client is, so that it can resume after any. */
  private void message(ByteArrayOutputStream chunk, Topic type, byte[] data) {
    chunk.writeBytes(EventMessage.of(feed.id(cursor - 1), Json.name(type), data));
  }

  private void write(byte[] chunk) {
    quietPulses = 0;
    writing = true;
    out.write(chunk, Callback.from(this::written, this::abort));
  }

  private synchronized void written() {
    writing = false;
    if (ended) {
      out.end();
    }
  }

  /** Ends the stream in good order; a chunk that is being written goes out first. */
  public synchronized void end() {
    if (!ended) {
      ended = true;
      if (!writing) {
        out.end();
      }
    }
  }

  /** The connection is lost. */
  public synchronized void abort(Throwable failure) {
    ended = true;
    out.abort(failure);
  }
}
