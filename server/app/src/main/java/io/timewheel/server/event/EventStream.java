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
 * The state of one client's event stream: its position in the feed, the latest figures, and the
 * chunk that is being written. So a client that does not read costs no more memory than that.
 *
 * <p>A client receives up to {@link #BURST} changes at once, and {@link #PER_SECOND} per second in
 * the long run. Further changes are dropped, and so are changes that left the feed before the
 * client could take them. The stream reports dropped changes once a second.
 *
 * <p>{@link #pulse}, called ten times a second, measures the time.
 */
public final class EventStream {
  /** The kinds of events that a client may ask for. */
  public enum Topic {
    STATS,
    TIMER,
    CLUSTER,
    DROPPED
  }

  /** The connection, as this class needs it. */
  public interface Out {
    /** Writes a chunk. Not called before the previous chunk was written. */
    void write(byte[] chunk, Callback written);

    /** Ends the answer normally, once all is written. */
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

  /** Creates a stream that begins now or, with its ID, after the last event that the client has. */
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
    // Changes that a client missed while it was disconnected do not count against its allowance.
    allowance = BURST + (int) (next - cursor);
  }

  public Scope scope() {
    return scope;
  }

  public boolean tells(Topic type) {
    return types.contains(type);
  }

  /** Sends figures with the next chunk, in place of older figures. */
  public synchronized void stats(byte[] json) {
    stats = json;
  }

  /** Sends the state of the cluster with the next chunk, in place of an older state. */
  public synchronized void cluster(byte[] json) {
    cluster = json;
  }

  /** Begins the answer, unless a pulse did, so that the client sees an open stream. */
  public synchronized void begin() {
    if (!writing && !ended) {
      byte[] chunk = chunk(new FeedSlices(feed));
      write(chunk.length == 0 ? PING : chunk);
    }
  }

  /** Sends new events. Called every tenth of a second. */
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
    if (cursor < oldest) { // the number of lost changes for this client is unknown
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

  /** Adds an event. Its ID is a position in the feed, so a client can resume after any event. */
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

  /** Ends the stream normally, after the chunk that is being written. */
  public synchronized void end() {
    if (!ended) {
      ended = true;
      if (!writing) {
        out.end();
      }
    }
  }

  /** Ends the stream after the connection was lost. */
  public synchronized void abort(Throwable failure) {
    ended = true;
    out.abort(failure);
  }
}
