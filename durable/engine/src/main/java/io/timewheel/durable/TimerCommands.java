// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.spi.record.Change.Verb.Command;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The commands for one timer or for many. For many, each command succeeds or fails on its own.
 * Immutable; {@link #ifVersion} and {@link #requestId} return commands with a modifier.
 *
 * @param <C> the answer to a cancel
 * @param <V> the answer to another command
 */
public class TimerCommands<C, V> {
  private final Changes changes;
  private final Function<Changes.Call<TimerKey, CancelResult>, C> cancels;
  private final Function<Changes.Call<TimerKey, VerbResult>, V> verbs;
  private final long version;
  private final @Nullable RequestId request;

  TimerCommands(
      Changes changes,
      Function<Changes.Call<TimerKey, CancelResult>, C> cancels,
      Function<Changes.Call<TimerKey, VerbResult>, V> verbs) {
    this(changes, cancels, verbs, 0, null);
  }

  private TimerCommands(
      Changes changes,
      Function<Changes.Call<TimerKey, CancelResult>, C> cancels,
      Function<Changes.Call<TimerKey, VerbResult>, V> verbs,
      long version,
      @Nullable RequestId request) {
    this.changes = changes;
    this.cancels = cancels;
    this.verbs = verbs;
    this.version = version;
    this.request = request;
  }

  /**
   * Adds the condition that a timer has a certain version.
   *
   * @param version the version from a result; 0 for any
   * @return the commands with the condition
   */
  public TimerCommands<C, V> ifVersion(long version) {
    Limits.version(version);
    return new TimerCommands<>(changes, cancels, verbs, version, request);
  }

  /**
   * Adds a request ID: for {@link RequestId#KEPT_HOURS} hours, a repeated command changes nothing
   * and gets the first answer.
   *
   * @param id the request ID; null if a repetition takes effect again
   * @return the commands with the ID
   */
  public TimerCommands<C, V> requestId(@Nullable RequestId id) {
    return new TimerCommands<>(changes, cancels, verbs, version, id);
  }

  /** {@return whether the cancel was in time} */
  public final C cancel() {
    return cancels.apply(changes.cancel(version, request));
  }

  /**
   * Pauses the timer. No attempt starts until it is resumed, except an attempt that a node has
   * already claimed.
   *
   * <p>This method does not wait for other nodes. A node claims an attempt shortly before its time,
   * and the timer is {@link io.timewheel.durable.model.TimerState#RUNNING RUNNING} from then on. If
   * this node has claimed the attempt and not started it, it gives the attempt back. If another
   * node has claimed it, the attempt starts or continues there. If it fails, no retry starts. To
   * stop the attempts of all nodes, {@linkplain NamespaceRef#pause pause the namespace}.
   *
   * @return the result
   */
  public final V pause() {
    return verb(Command.PAUSE);
  }

  /** {@return the result of ending the pause of the timer; if it is overdue, it fires} */
  public final V resume() {
    return verb(Command.RESUME);
  }

  /** {@return the result of firing the timer now; a recurring one keeps its schedule} */
  public final V runNow() {
    return verb(Command.RUN);
  }

  /**
   * Fires a failed or blocked timer. Its attempts are counted from 1 again.
   *
   * @return the result
   */
  public final V retry() {
    return verb(Command.RETRY);
  }

  /**
   * Moves the present or next run of the timer to another time. The timer gets a new version. If
   * the time is in the past, the run is due now. It does not count as missed, unless the timer is
   * paused.
   *
   * @param at the time
   * @return the result
   */
  public final V move(Instant at) {
    return verbs.apply(changes.move(at, version, request));
  }

  private V verb(Command command) {
    return verbs.apply(changes.verb(command, version, request));
  }
}
