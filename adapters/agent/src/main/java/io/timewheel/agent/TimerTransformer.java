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
 * timer. The transformer makes it when the timer class loads, and reads the two nested classes as
 * resources of the same class loader.
 *
 * <p>The JVM defines a timer class before its nested classes, unless code loads a nested class by
 * its name. If the transformer sees a nested class first, it leaves the whole timer alone: the
 * timer class may have been loaded before the agent.
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
   * The decisions by class loader (null for the boot class path) and name of the timer. The first
   * decision about a timer applies.
   */
  private final Map<ClassLoader, Map<String, Decision>> decisions = new WeakHashMap<>();

  /**
   * A decision about a timer.
   *
   * @param weaver changes the classes; null to leave the timer alone
   * @param nested the changed nested classes, by their names after that of the timer
   */
  private record Decision(
      @Nullable Weaver weaver, @Nullable String note, Map<String, byte[]> nested) {}

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

  /** Leaves a timer alone if it, or one of its nested classes, is among the given classes. */
  void leaveAlone(Class<?>[] loaded) {
    for (Class<?> type : loaded) {
      String timer = timerName(type.getName().replace('.', '/'));
      if (timer != null && type.getSuperclass() == Object.class) {
        decide(type.getClassLoader(), timer, leaveAlone(timer, "it was loaded before the agent"));
      }
    }
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
    if (className == null || redefined != null || !className.contains(TIMER)) {
      return null;
    }
    String timer = timerName(className);
    if (timer == null) {
      return null;
    }
    String nested = className.substring(timer.length());
    Decision decision = known(loader).get(timer);
    try {
      if (decision == null) {
        Decision mine =
            className.equals(timer)
                ? look(loader, timer, classFile, domain)
                : leaveAlone(timer, "the agent saw " + className.replace('/', '.') + " first");
        decision = decide(loader, timer, mine);
      }
      Weaver weaver = decision.weaver;
      return weaver == null ? null : weave(weaver, nested, classFile);
    } catch (Throwable e) {
      if (decision != null && decision.nested.containsKey(nested)) {
        return decision.nested.get(nested); // the timer class is changed already
      }
      known(loader).remove(timer);
      decide(loader, timer, leaveAlone(timer, e.toString()));
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

  /** Records and prints a decision, unless there is one. Returns the decision that applies. */
  private Decision decide(@Nullable ClassLoader loader, String timer, Decision mine) {
    Decision before = known(loader).putIfAbsent(timer, mine);
    if (before != null) {
      return before;
    }
    if (mine.note != null) {
      agent.note(mine.note);
    }
    return mine;
  }

  private Map<String, Decision> known(@Nullable ClassLoader loader) {
    synchronized (decisions) {
      return decisions.computeIfAbsent(loader, key -> new ConcurrentHashMap<>());
    }
  }

  /**
   * Makes a decision about a timer. Holds no lock meanwhile, because it reads from a class loader,
   * which may wait for another thread that loads a timer.
   */
  private Decision look(
      @Nullable ClassLoader loader,
      String timer,
      byte[] classFile,
      @Nullable ProtectionDomain domain)
      throws IOException {
    String name = timer.replace('/', '.');
    if (loader == null) {
      return leaveAlone(timer, "it is on the boot class path");
    }
    Shape shape = Shape.of(classFile);
    if (extendsTimer(loader, shape)) {
      return new Decision(null, null, Map.of());
    }
    if (!agent.options().selects(name)) {
      return leaveAlone(timer, "the options include and exclude do not select it");
    }
    if (shape.isWoven()) {
      return leaveAlone(timer, "another copy of the agent has changed it");
    }
    Shape[] nested = new Shape[2];
    byte[][] files = new byte[2][];
    String[] names = {timer + Shape.WORKER, timer + Shape.TIMEOUT};
    for (int i = 0; i < names.length; i++) {
      byte[] bytes = read(loader, names[i]);
      if (bytes == null) {
        return leaveAlone(timer, "its class loader has no resource " + names[i] + ".class");
      }
      files[i] = bytes;
      nested[i] = Shape.of(bytes);
    }
    String problem = Shape.problem(shape, nested[0], nested[1]);
    if (problem != null) {
      return leaveAlone(timer, "not the timer of Netty 4 or Dubbo: " + problem);
    }
    Weaver weaver = new Weaver(shape, nested[0], nested[1]);
    return new Decision(
        weaver,
        (agent.options().compares() ? "watches " : "replaced ") + name + from(domain) + settings(),
        Map.of(Shape.WORKER, weaver.worker(files[0]), Shape.TIMEOUT, weaver.timeout(files[1])));
  }

  /**
   * Returns whether a class inherits from another class with the name of a timer. The agent decides
   * about that class instead.
   */
  private static boolean extendsTimer(ClassLoader loader, Shape shape) throws IOException {
    String parent = shape.superName;
    while (!parent.equals(Shape.OBJECT) && timerName(parent) == null) {
      byte[] bytes = read(loader, parent);
      parent = bytes == null ? Shape.OBJECT : Shape.of(bytes).superName;
    }
    return !parent.equals(Shape.OBJECT);
  }

  private static Decision leaveAlone(String timer, String reason) {
    return new Decision(null, "left alone: " + timer.replace('/', '.') + ": " + reason, Map.of());
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
