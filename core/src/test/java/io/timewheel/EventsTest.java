// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.function.IntSupplier;
import jdk.jfr.FlightRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Tests the loading of the events: that it can fail, and that it retains no application. */
class EventsTest {
  @Test
  void errorAtTheFirstCheckDisablesOnlyTheEvents() throws Exception {
    FlightRecorder.getFlightRecorder(); // otherwise, the recorder is not checked
    OutOfMemory loader = new OutOfMemory();
    IntSupplier timer =
        (IntSupplier)
            loader.loadClass(OneTask.class.getName()).getDeclaredConstructor().newInstance();
    assertThat(loader.threwError).as("the check, before there is a task").isTrue();

    assertThat(timer.getAsInt()).as("runs").isEqualTo(1);
  }

  @Test
  @EnabledForJreRange(max = JRE.JAVA_20) // later ones do not ask the thread for its class loader
  void triesAgainToLoadTheEventsIfNoThreadCouldBeStarted() throws Exception {
    FlightRecorder.getFlightRecorder();
    IntSupplier looks =
        (IntSupplier)
            new OutOfMemory()
                .loadClass(TwoLooks.class.getName())
                .getDeclaredConstructor()
                .newInstance();
    assertThat(looks.getAsInt()).as("threads meant to load the events").isEqualTo(2);
  }

  /** On JDK 17, the recorder retains the context in which the events are loaded. */
  @Test
  void eventsDoNotKeepTheApplicationThatLoadsThem() throws Exception {
    FlightRecorder.getFlightRecorder();
    Reloading library = new Reloading(EventsTest.class.getClassLoader(), "io.timewheel.");

    Await.collected(application(library));

    assertThat(library.hasLoaded(JfrEvents.class)).isTrue();
  }

  private static WeakReference<ClassLoader> application(ClassLoader library) throws Exception {
    ClassLoader application = new Reloading(library, Application.class.getName());
    Object made =
        application.loadClass(Application.class.getName()).getDeclaredConstructor().newInstance();
    assertThat(made.getClass().getClassLoader()).isSameAs(application);
    return new WeakReference<>(application);
  }

  /** Makes a timer. Runs in a class loader that is a child of that of the library. */
  public static final class Application {
    private final Timer timer = PolledTimer.builder().build();

    public Application() {
      timer.stop();
    }
  }

  /** Makes two events, on a thread that can start no other. Runs in a separate class loader. */
  public static final class TwoLooks extends Thread implements IntSupplier {
    private int tries;

    public TwoLooks() {}

    @Override
    public void run() {
      for (int i = 0; i < 2; i++) {
        Object unused = Events.taskBegins();
      }
    }

    @Override
    public ClassLoader getContextClassLoader() {
      tries++;
      throw new OutOfMemoryError("on purpose");
    }

    @Override
    public int getAsInt() {
      start();
      try {
        join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return tries;
    }
  }

  /** Makes a timer with one task. Runs in a separate class loader. */
  public static final class OneTask implements IntSupplier {
    private final TestClock clock = new TestClock();
    private final PolledTimer timer = PolledTimer.builder().timeSource(clock).build();

    public OneTask() {}

    @Override
    public int getAsInt() {
      RecordingTask task = new RecordingTask(clock);
      timer.newTimeout(task, 1, MILLISECONDS);
      clock.advance(MILLISECONDS.toNanos(1));
      timer.poll();
      return task.runs();
    }
  }

  /** Loads the whole library again, except the events: there is no memory for them. */
  private static final class OutOfMemory extends Reloading {
    boolean threwError;

    OutOfMemory() {
      super(EventsTest.class.getClassLoader(), "io.timewheel.");
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.equals(JfrEvents.class.getName())) {
        threwError = true;
        throw new OutOfMemoryError("on purpose");
      }
      return super.loadClass(name, resolve);
    }
  }

  /** Loads the classes whose name has a prefix again. */
  private static class Reloading extends ClassLoader {
    private final String prefix;

    Reloading(ClassLoader parent, String prefix) {
      super(parent);
      this.prefix = prefix;
    }

    boolean hasLoaded(Class<?> type) {
      return findLoadedClass(type.getName()) != null;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(prefix)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] code = file.readAllBytes();
        return defineClass(name, code, 0, code.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }
}
