// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.time.Duration;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Changes the classes of timers when the JVM loads them. One decision covers the three classes of a
 * timer. The transformer makes it when the first class loads, and reads the other two as resources
 * of the same class loader.
 */
final class TimerTransformer implements ClassFileTransformer {
  /**
   * The simple name of the timer class. A copy that a build has relocated to another package has
   * the same simple name.
   */
  private static final String TIMER = "HashedWheelTimer";

  private static final String THIS_PACKAGE = "io/timewheel/";

  private final Agent agent;

  /**
   * The decisions by class loader and name of the timer. Without a weaver, the timer is left alone.
   */
  private final Map<ClassLoader, Map<String, Decision>> decisions = new WeakHashMap<>();

  private record Decision(@Nullable Weaver weaver, String note) {}

  TimerTransformer(Agent agent) {
    this.agent = agent;
  }

  /**
   * Returns the name of the timer class if the given class is a timer or is nested in one;
   * otherwise null.
   */
  static @Nullable String timerName(String className) {
    for (String nested : new String[] {"", Shape.WORKER, Shape.TIMEOUT}) {
      if (className.endsWith(TIMER.concat(nested)) && !className.startsWith(THIS_PACKAGE)) {
        return className.substring(0, className.length() - nested.length());
      }
    }
    return null;
  }

  /**
   * Called for each class that the JVM loads, so most calls must return at the first comparison.
   */
  @Override
  public byte @Nullable [] transform(
      @Nullable ClassLoader loader,
      @Nullable String className,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] classFile) {
    if (className == null || loader == null || redefined != null || !className.contains(TIMER)) {
      return null;
    }
    String timer = timerName(className);
    if (timer == null) {
      return null;
    }
    try {
      Weaver weaver = decide(loader, timer, className, classFile, domain).weaver;
      return weaver == null ? null : weave(weaver, className.substring(timer.length()), classFile);
    } catch (Throwable e) {
      agent.note("left alone: " + className.replace('/', '.') + ": " + e);
      return null;
    }
  }

  private static byte[] weave(Weaver weaver, String nested, byte[] classFile) {
    return switch (nested) {
      case Shape.WORKER -> weaver.worker(classFile);
      case Shape.TIMEOUT -> weaver.timeout(classFile);
      default -> weaver.timer(classFile);
    };
  }

  /**
   * Decides about a timer. Holds no lock meanwhile, because it reads from a class loader, which may
   * wait for another thread that loads a timer.
   */
  private Decision decide(
      ClassLoader loader,
      String timer,
      String className,
      byte[] classFile,
      @Nullable ProtectionDomain domain)
      throws IOException {
    Decision decision = known(loader).get(timer);
    if (decision == null) {
      Decision mine = look(loader, timer, className, classFile, domain);
      decision = known(loader).putIfAbsent(timer, mine);
      if (decision == null) {
        agent.note(mine.note);
        return mine;
      }
    }
    return decision;
  }

  private Map<String, Decision> known(ClassLoader loader) {
    synchronized (decisions) {
      return decisions.computeIfAbsent(loader, key -> new ConcurrentHashMap<>());
    }
  }

  private Decision look(
      ClassLoader loader,
      String timer,
      String className,
      byte[] classFile,
      @Nullable ProtectionDomain domain)
      throws IOException {
    String name = timer.replace('/', '.');
    if (!agent.options().selects(name)) {
      return leaveAlone(name, "the options include and exclude do not select it");
    }
    Shape[] shapes = new Shape[3];
    String[] names = {timer, timer + Shape.WORKER, timer + Shape.TIMEOUT};
    for (int i = 0; i < names.length; i++) {
      byte[] bytes = names[i].equals(className) ? classFile : read(loader, names[i]);
      if (bytes == null) {
        return leaveAlone(name, "its class loader has no resource " + names[i] + ".class");
      }
      shapes[i] = Shape.of(bytes);
    }
    String problem = Shape.problem(shapes[0], shapes[1], shapes[2]);
    if (problem != null) {
      return leaveAlone(name, "not the timer of Netty 4 or Dubbo: " + problem);
    }
    return new Decision(
        new Weaver(shapes[0], shapes[1], shapes[2]),
        (agent.options().compares() ? "watches " : "replaced ") + name + from(domain) + settings());
  }

  private static Decision leaveAlone(String name, String reason) {
    return new Decision(null, "left alone: " + name + ": " + reason);
  }

  private static byte @Nullable [] read(ClassLoader loader, String className) throws IOException {
    try (InputStream in = loader.getResourceAsStream(className + ".class")) {
      return in == null ? null : in.readAllBytes();
    }
  }

  private static String from(@Nullable ProtectionDomain domain) {
    return domain == null
            || domain.getCodeSource() == null
            || domain.getCodeSource().getLocation() == null
        ? ""
        : " of " + requireNonNull(domain.getCodeSource().getLocation());
  }

  private String settings() {
    Duration tick = agent.options().tick();
    if (agent.options().compares()) {
      return " (own wheel)";
    }
    return " (tick: " + (tick == null ? "the application's own" : Options.text(tick)) + ")";
  }
}
