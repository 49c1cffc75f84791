// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.proof.Changes.Kind;
import io.timewheel.durable.testkit.RecordingStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** The JVM whose write-ahead log is cut: changes timers, and logs the order as {@link Changes}. */
public final class CutChild {
  /** The prefix of the IDs of timers that fire at once. */
  static final String NEAR = "near";

  private static final String NAMESPACE = "cuts";
  private static final String HANDLER = "h";
  private static final int CALLERS = 3;
  private static final int TIMERS_PER_CALLER = 60;
  private static final int MAX_PAYLOAD_BYTES = 3_000;

  private final FileChannel log;
  private final AtomicInteger numbers;
  private final Map<String, Integer> numbersOfEnds = new ConcurrentHashMap<>();

  private CutChild(FileChannel log, int session) {
    this.log = log;
    numbers = new AtomicInteger(session * 1_000_000);
  }

  /**
   * Runs the child.
   *
   * @param args the directory of the store, the file of the log, and the number of this session
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    FileChannel log =
        FileChannel.open(
            Path.of(args[1]),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.APPEND);
    int session = Integer.parseInt(args[2]);
    new CutChild(log, session).run(Path.of(args[0]), session);
  }

  private void run(Path directory, int session) throws IOException {
    DurableTimer scheduler =
        DurableTimer.builder(
                new RecordingStore(Stores.open(directory, Log.NONE), done -> ended(done.key())))
            .handler(
                HANDLER,
                firing -> numbersOfEnds.computeIfAbsent(firing.id(), id -> ask(id, Kind.DONE)))
            .start();
    for (int i = 0; i < CALLERS; i++) {
      String prefix = "s" + session + "-" + i + "-";
      Thread caller = new Thread(() -> new Caller(scheduler, prefix).run(), prefix);
      caller.setDaemon(true);
      caller.start();
    }
    System.out.println(Child.Mark.STARTED);
    System.out.flush();
    while (System.in.read() >= 0) {
      // Until the parent has ended.
    }
    System.exit(0);
  }

  private void add(String line) {
    try {
      log.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int ask(String id, Kind kind) {
    int number = numbers.incrementAndGet();
    add("S " + number + " " + id + " " + kind);
    return number;
  }

  private void acknowledge(int number) {
    add("K " + number);
  }

  private void ended(TimerKey key) {
    Integer number = numbersOfEnds.remove(key.id());
    if (number != null) {
      acknowledge(number);
    }
  }

  /** A thread that changes its own timers. */
  private final class Caller {
    private final DurableTimer scheduler;
    private final Random random = new Random();
    private final BlockingQueue<String> free = new LinkedBlockingQueue<>();
    private final Map<String, Kind> latest = new ConcurrentHashMap<>();

    Caller(DurableTimer scheduler, String prefix) {
      this.scheduler = scheduler;
      for (int i = 0; i < TIMERS_PER_CALLER; i++) {
        free.add(prefix + i);
      }
    }

    void run() {
      try {
        while (true) {
          change(free.take());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void change(String id) {
      Kind before = latest.getOrDefault(id, Kind.CANCEL);
      int choice = before == Kind.CANCEL ? 0 : random.nextInt(6);
      switch (choice) {
        case 1, 2 -> {
          int number = ask(id, Kind.MOVE);
          Instant at = Instant.ofEpochMilli(Changes.dueMillis(number));
          VerbResult moved = scheduler.timer(new TimerKey(NAMESPACE, id)).move(at);
          if (moved != VerbResult.DONE) {
            throw new IllegalStateException(id + ": " + moved);
          }
          acknowledged(id, number, Kind.MOVE);
        }
        case 3 -> {
          int number = ask(id, Kind.CANCEL);
          scheduler
              .async()
              .timer(NAMESPACE, id)
              .cancel()
              .thenRun(() -> acknowledged(id, number, Kind.CANCEL));
        }
        default -> {
          int number = ask(id, Kind.SCHEDULE);
          TimerSpec spec =
              TimerSpec.of(NAMESPACE, id)
                  .handler(HANDLER)
                  .payload(new byte[random.nextInt(MAX_PAYLOAD_BYTES)])
                  .at(Instant.ofEpochMilli(Changes.dueMillis(number)));
          scheduler.async().schedule(spec).thenRun(() -> acknowledged(id, number, Kind.SCHEDULE));
        }
      }
      if (random.nextInt(5) == 0) {
        fireSoon(id);
      }
    }

    /** Schedules a timer of this thread that fires at once. */
    private void fireSoon(String id) {
      String near = NEAR + numbers.incrementAndGet() + id;
      int number = ask(near, Kind.SCHEDULE);
      scheduler
          .async()
          .schedule(
              TimerSpec.of(NAMESPACE, near)
                  .handler(HANDLER)
                  .after(Duration.ofMillis(random.nextInt(50))))
          .thenRun(() -> acknowledge(number));
    }

    private void acknowledged(String id, int number, Kind kind) {
      acknowledge(number);
      latest.put(id, kind);
      free.add(id);
    }
  }
}
