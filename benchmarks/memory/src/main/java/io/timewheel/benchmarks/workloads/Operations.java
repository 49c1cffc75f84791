// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Settings;
import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The operations that JMH measures. A timer never runs any of these timeouts. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(SECONDS)
@SuppressWarnings("NullAway.Init") // JMH sets them
public class Operations {
  /** The flags of the JVM that JMH starts. Without this property, it starts none. */
  public static final String FLAGS = "timewheel.benchmarks.flags";

  /**
   * The timer of this JVM. JMH must not close it: it would count the close, and its allocations, in
   * the last iteration.
   */
  private static volatile @Nullable Subject opened;

  private static final long DELAY_NANOS = SECONDS.toNanos(30);

  /** The subject. */
  @Param("timewheel")
  public String subject;

  /** The number of timeouts that each thread keeps pending. */
  @Param("0")
  public int live;

  /** The number of threads. */
  @Param("1")
  public int threads;

  private Subject timer;
  private boolean isTimer;
  private Object task;

  /** Makes the timer. */
  @Setup
  public void open() {
    Settings settings = new Settings(1_000_000, threads * live, DELAY_NANOS);
    timer = SubjectKind.of(subject).open(settings);
    opened = timer;
    isTimer = SubjectKind.of(subject).isTimer();
    task = timer.task(() -> {});
  }

  /** The timeouts that one thread keeps pending. */
  @State(Scope.Thread)
  @SuppressWarnings("NullAway.Init") // JMH sets them
  public static class Ring {
    private Object[] handles;
    private int next;
    private long random = 42;

    /**
     * Starts the timeouts.
     *
     * @param operations whose timer is used
     */
    @Setup
    public void fill(Operations operations) {
      handles = new Object[operations.live];
      for (int i = 0; i < handles.length; i++) {
        handles[i] = operations.timer.start(operations.task, DELAY_NANOS);
      }
    }

    /** Returns a random index, from the fastest generator. */
    private int any() {
      random = random * 6364136223846793005L + 1442695040888963407L;
      return (int) (((random >>> 33) * handles.length) >>> 31);
    }
  }

  /**
   * Starts a timeout and cancels it at once.
   *
   * @param blackhole takes the handle of a subject that is not a timer; otherwise, the compiler
   *     would remove it
   * @return the result of cancelling
   */
  @Benchmark
  public boolean churn(Blackhole blackhole) {
    Object handle = timer.start(task, DELAY_NANOS);
    if (!isTimer) {
      blackhole.consume(handle);
    }
    return timer.cancel(handle);
  }

  /**
   * Cancels the oldest timeout and starts one.
   *
   * @param ring of this thread
   * @return the result of cancelling
   */
  @Benchmark
  public boolean inflight(Ring ring) {
    int i = ring.next;
    boolean cancelled = timer.cancel(ring.handles[i]);
    ring.handles[i] = timer.start(task, DELAY_NANOS);
    ring.next = i + 1 == ring.handles.length ? 0 : i + 1;
    return cancelled;
  }

  /**
   * Postpones a random timeout, because connections are used in any order. A fixed order would be
   * unfair to timers that move a timeout in place. The other timers create a new handle each time,
   * so their handles would be in memory order.
   *
   * @param ring of this thread
   * @return its handle
   */
  @Benchmark
  public Object touch(Ring ring) {
    int i = ring.any();
    Object old = ring.handles[i];
    Object handle = timer.move(old, task, DELAY_NANOS);
    if (handle != old) { // other subjects need no write
      ring.handles[i] = handle;
    }
    return handle;
  }

  static Map<String, Double> measure(Workload workload, SubjectKind kind, Parameters parameters)
      throws RunnerException {
    TimeValue iteration = TimeValue.milliseconds(parameters.windowMillis());
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("^" + Operations.class.getName() + "." + workload.id() + "$")
            .param("subject", kind.id())
            .param("live", Integer.toString(parameters.count()))
            .param("threads", Integer.toString(parameters.threads()))
            .threads(parameters.threads())
            .warmupIterations(2)
            .warmupTime(iteration)
            .measurementIterations(3)
            .measurementTime(iteration)
            .addProfiler(GCProfiler.class)
            .addProfiler(CpuProfiler.class)
            .shouldFailOnError(true)
            .verbosity(VerboseMode.SILENT);
    String flags = System.getProperty(FLAGS);
    options = flags == null ? options.forks(0) : options.forks(1).jvmArgs(flags.split(" "));
    Collection<RunResult> results = new Runner(options.build()).run();
    RunResult result = results.iterator().next();
    if (opened != null) {
      opened.close();
    }

    double opsPerSecond = result.getPrimaryResult().getScore();
    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("opsPerSecond", opsPerSecond);
    metrics.put("nanosPerOp", parameters.threads() * 1e9 / opsPerSecond);
    metrics.put("bytesPerOp", secondary(result, "gc.alloc.rate.norm"));
    metrics.put("cpuNanosPerOp", secondary(result, CpuProfiler.LABEL));
    return metrics;
  }

  private static double secondary(RunResult result, String label) {
    if (!result.getSecondaryResults().containsKey(label)) {
      throw new IllegalStateException("JMH has no " + label);
    }
    return result.getSecondaryResults().get(label).getScore();
  }
}
