// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** All subjects that can be measured, in the order of the first round. */
public enum SubjectKind {
  TIMEWHEEL("timewheel", "Timewheel hierarchical", "timewheel", "1 ms"),
  TIMEWHEEL_HASHED("timewheel-hashed", "Timewheel hashed", "timewheel", "1 ms, 2048 slots"),
  TIMEWHEEL_POLLED("timewheel-polled", "Timewheel polled", "timewheel", "1 ms"),
  NETTY41("netty41", "Netty 4.1 HashedWheelTimer", "netty41", "1 ms, 2048 slots"),
  NETTY42("netty42", "Netty 4.2 HashedWheelTimer", "netty42", "1 ms, 2048 slots"),
  DUBBO("dubbo", "Dubbo HashedWheelTimer", "dubbo", "1 ms, 2048 slots"),
  KAFKA("kafka", "Kafka SystemTimer", "kafka", "1 ms"),
  PEKKO("pekko", "Pekko LightArrayRevolverScheduler", "pekko", "1 ms, 2048 slots"),
  AGRONA("agrona", "Agrona DeadlineTimerWheel", "agrona", "2^20 ns"),
  STPE("stpe", "ScheduledThreadPoolExecutor(1)", "jdk", "–"),
  JUTIMER("jutimer", "java.util.Timer", "jdk", "–"),
  FJP("fjp", "ForkJoinPool(1).schedule", "jdk", "–"),
  FLOOR("floor", "System.nanoTime() and 40 bytes", "jdk", "–"),
  LOCKED_FLOOR("locked-floor", "clock, 40 bytes and two locks", "jdk", "–"),
  EMPTY("empty", "no timer at all", "jdk", "–"),
  EXPIRATIONS("expirations", "Expirations", "timewheel", "1 ms"),
  REQUESTS("requests", "Requests", "timewheel", "1 ms"),
  RETRIES("retries", "Retries", "timewheel", "1 ms"),
  HEARTBEATS("heartbeats", "Heartbeats", "timewheel", "1 ms"),
  LEASES("leases", "Leases", "timewheel", "1 ms");

  private static final Properties VERSIONS = readVersions();

  private final String id;
  private final String label;
  private final String library;
  private final String tick;

  SubjectKind(String id, String label, String library, String tick) {
    this.id = id;
    this.label = label;
    this.library = library;
    this.tick = tick;
  }

  private static Properties readVersions() {
    Properties versions = new Properties();
    try (InputStream in = SubjectKind.class.getResourceAsStream("versions.properties")) {
      versions.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions;
  }

  /**
   * Finds a subject by its ID.
   *
   * @param id as in the results
   * @return the subject
   */
  public static SubjectKind of(String id) {
    return Arrays.stream(values())
        .filter(kind -> kind.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown subject: " + id));
  }

  /** {@return the name in the results} */
  public String id() {
    return id;
  }

  /** {@return the name for readers} */
  public String label() {
    return label;
  }

  /** {@return its tick, unless a workload sets another} */
  public String tick() {
    return tick;
  }

  /** {@return the version of the library, or null if it is the JDK} */
  public @Nullable String version() {
    return VERSIONS.getProperty(library);
  }

  /** {@return the directory with the jars of the library, or null if it needs none} */
  public @Nullable String jars() {
    return library.equals("jdk") || library.equals("timewheel")
        ? null
        : library + "-" + VERSIONS.getProperty(library);
  }

  /** {@return whether it is a timer} */
  public boolean isTimer() {
    return switch (this) {
      case FLOOR, LOCKED_FLOOR, EMPTY -> false;
      default -> !isPattern();
    };
  }

  /** {@return whether it is a pattern, which uses a timer} */
  public boolean isPattern() {
    return switch (this) {
      case EXPIRATIONS, REQUESTS, RETRIES, HEARTBEATS, LEASES -> true;
      default -> false;
    };
  }

  /** {@return whether it has no thread, so its user must poll it} */
  public boolean isPolled() {
    return this == TIMEWHEEL_POLLED || this == AGRONA;
  }

  /**
   * Returns whether a JVM contains it.
   *
   * @param jvm the version
   * @return false if it was added in a later version
   */
  public boolean isIn(Runtime.Version jvm) {
    return this != FJP || jvm.compareTo(Runtime.Version.parse("25.0.3")) >= 0;
  }

  /**
   * Makes a subject.
   *
   * @param settings its settings
   * @return a new subject, its thread running if it starts one by itself
   */
  public Subject open(Settings settings) {
    return switch (this) {
      case TIMEWHEEL -> TimewheelSubject.hierarchical(settings);
      case TIMEWHEEL_HASHED -> TimewheelSubject.hashed(settings);
      case TIMEWHEEL_POLLED -> new PolledSubject(settings);
      case NETTY41, NETTY42 -> new NettySubject(settings);
      case DUBBO -> new DubboSubject(settings);
      case KAFKA -> new KafkaSubject();
      case PEKKO -> new PekkoSubject(settings);
      case AGRONA -> new AgronaSubject(settings);
      case STPE -> ScheduledSubject.threadPool();
      case JUTIMER -> new JavaUtilTimerSubject(settings);
      case FJP -> ScheduledSubject.forkJoinPool();
      case FLOOR -> new FloorSubject();
      case LOCKED_FLOOR -> new LockedFloorSubject();
      case EMPTY -> new EmptySubject();
      case EXPIRATIONS, REQUESTS, RETRIES, HEARTBEATS, LEASES -> throw new AssertionError(this);
    };
  }

  /**
   * Makes a subject for timeouts with keys.
   *
   * @param settings its settings; the horizon is the delay of each timeout
   * @return a new pattern, or a map with a new timer
   */
  public Keyed openKeyed(Settings settings) {
    return switch (this) {
      case EXPIRATIONS -> PatternSubjects.expirations(settings);
      case REQUESTS -> PatternSubjects.requests(settings);
      case RETRIES -> PatternSubjects.retries(settings);
      case HEARTBEATS -> PatternSubjects.heartbeats(settings);
      case LEASES -> PatternSubjects.leases(settings);
      default -> new HandMade(open(settings), settings.horizonNanos());
    };
  }
}
