// SPDX-License-Identifier: Apache-2.0
/**
 * Ready-made uses of timers. They are keyed, thread-safe, and work on any {@link
 * io.timewheel.Timer}, even one without a thread.
 *
 * <table>
 * <caption>The classes and their uses</caption>
 * <tr><th>Class</th><th>For</th></tr>
 * <tr><td>{@link io.timewheel.pattern.Expirations}</td>
 * <td>values that expire, each after its own timeout: sessions, events</td></tr>
 * <tr><td>{@link io.timewheel.pattern.Requests}</td>
 * <td>requests in flight, by numeric ID, on connections that may close</td></tr>
 * <tr><td>{@link io.timewheel.pattern.Retries}</td>
 * <td>keys that failed and are tried again, with a {@link io.timewheel.pattern.Backoff}</td></tr>
 * <tr><td>{@link io.timewheel.pattern.Heartbeats}</td>
 * <td>connections that need heartbeats and idle checks</td></tr>
 * <tr><td>{@link io.timewheel.pattern.Leases}</td>
 * <td>leases that are renewed while they are held</td></tr>
 * <tr><td>{@link io.timewheel.pattern.Coalescer}</td>
 * <td>one action for many events: debounced, after the last, or throttled, once per interval</td></tr>
 * </table>
 *
 * <p>The RPC client of the module {@code examples}, {@code RpcClient}, in short:
 *
 * <pre>{@code
 * Requests<String> requests =
 *     Requests.<String>builder(timer)
 *         .executor(executor)
 *         .onLate((where, id, answer) -> say("request " + id + ": the answer came late"))
 *         .build();
 * Requests.Channel<String> connection = requests.channel();
 *
 * CompletableFuture<String> answer = connection.start(1, Duration.ofMillis(100));
 * connection.complete(1, "pong");
 * connection.close(new IllegalStateException("the connection is closed"));
 * }</pre>
 *
 * <p>This part of {@code IdleServer} pings and closes idle connections. {@code LockWatchdog} renews
 * the locks that it holds:
 *
 * <pre>{@code
 * heartbeats =
 *     Heartbeats.<String>builder(timer, executor)
 *         .onWriteIdle(Duration.ofMillis(100), this::ping)
 *         .onReadIdle(Duration.ofMillis(250), this::close)
 *         .build();
 * }</pre>
 *
 * <pre>{@code
 * Leases<String> leases =
 *     Leases.builder(timer, executor, Duration.ofMillis(300), server::renew)
 *         .onLost((lock, how) -> say("lost " + lock + ": " + how))
 *         .build();
 * }</pre>
 *
 * <h2>Common rules</h2>
 *
 * All patterns use the clock of the timer. User code runs on an executor, under no lock. The {@link
 * io.timewheel.pattern.PatternErrorHandler} receives its exceptions with the key, and the pattern
 * continues. An entry counts as one pending timeout for its whole life, so the timer's limit can
 * refuse it only when it is added. When a call that ends an entry returns, the entry is no longer
 * in the timer.
 */
@NullMarked
package io.timewheel.pattern;

import org.jspecify.annotations.NullMarked;
