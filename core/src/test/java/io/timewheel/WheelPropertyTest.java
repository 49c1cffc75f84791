// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;

/**
 * Random scripts of operations, run on a wheel and on its {@link WheelModel}, which compares the
 * two after every operation.
 *
 * <p>{@code -Djqwik.tries.default=100000} runs more scripts than the ordinary build does.
 */
class WheelPropertyTest {
  private static final long MILLI = 1_000_000;

  /**
   * Enough timeouts to exceed the budget of a poll in one slot, and few enough to check all after
   * every operation.
   */
  private static final int MAX_PENDING = 200;

  @Property(edgeCases = EdgeCasesMode.NONE)
  @Tag("promise-2")
  void hierarchicalWheelMatchesItsModel(
      @ForAll @From("origins") long originNanos,
      @ForAll @From("tickLengths") long tickNanos,
      @ForAll @From("crowds") int largeSlot,
      @ForAll @From("scripts") List<Operation> script) {
    Function<Ticks, Wheel> wheels = ticks -> new HierarchicalWheel(ticks, largeSlot, Slot::new);
    run(new WheelModel(originNanos, tickNanos, wheels), script);
  }

  @Property(edgeCases = EdgeCasesMode.NONE)
  @Tag("promise-2")
  void hashedWheelMatchesItsModel(
      @ForAll @From("origins") long originNanos,
      @ForAll @From("tickLengths") long tickNanos,
      @ForAll @From("wheelSizes") int slots,
      @ForAll @From("scripts") List<Operation> script) {
    Function<Ticks, Wheel> wheels = ticks -> new HashedWheel(ticks, slots);
    run(new WheelModel(originNanos, tickNanos, wheels), script);
  }

  private static void run(WheelModel model, List<Operation> script) {
    for (Operation operation : script) {
      operation.applyTo(model);
    }
    // A timeout that was not stopped fires eventually, unless time ends before it.
    model.pollAll();
    while (model.size() > 0 && model.earliestTick() <= model.ticks.tickAt(Long.MAX_VALUE)) {
      int before = model.size();
      model.runTo(model.earliestTick());
      assertThat(model.size()).isLessThan(before);
    }
    model.drain(MAX_PENDING);
    assertThat(model.wheel.nextTick()).isEqualTo(Ticks.NEVER);
  }

  // The operations of a script

  interface Operation {
    void applyTo(WheelModel model);
  }

  /**
   * Starts several timeouts, each due some ticks after the previous one. The reading of the clock
   * is {@code stale} old.
   */
  record Start(int count, long strideTicks, Span delay, Span stale) implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      for (int i = 0; i < count && model.size() < MAX_PENDING; i++) {
        long delayNanos = delay.nanos(model) + i * strideTicks * model.ticks.tickNanos;
        model.start(delayNanos, staleNanos(model, stale));
      }
    }
  }

  record Stop(int from, int count) implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      for (int i = 0; i < count && model.size() > 0; i++) {
        model.stop(model.pick(from % model.size()));
      }
    }
  }

  /** Stops everything in one slot except a few timeouts at its end. */
  record StopSlot(int from, int keep) implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      if (model.size() > 0) {
        List<Node> mates = model.slotMates(model.pick(from % model.size()));
        mates.subList(0, Math.max(0, mates.size() - keep)).forEach(model::stop);
      }
    }
  }

  record Move(int from, int count, Span delay, Span stale) implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      for (int i = 0; i < count && model.size() > 0; i++) {
        Node timeout = model.pick(from % model.size());
        model.move(timeout, delay.nanos(model), staleNanos(model, stale));
      }
    }
  }

  /** The clock may fall back a little, as clocks do. */
  record Advance(Span by) implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      model.advance(Math.max(-MILLI, by.nanos(model)));
    }
  }

  record Poll(int times, int ticksBehind) implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      for (int i = 0; i < times; i++) {
        model.poll(Math.max(0, model.nowTick() - ticksBehind));
      }
    }
  }

  record PollAll() implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      model.pollAll();
    }
  }

  record OpenAhead() implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      model.openAhead();
    }
  }

  record Drain(int limit) implements Operation {
    @Override
    public void applyTo(WheelModel model) {
      model.drain(limit);
    }
  }

  private static long staleNanos(WheelModel model, Span stale) {
    return Math.max(0, model.elapsedNanos() - Math.max(0, stale.nanos(model)));
  }

  /** A span of time that depends on the borders of the wheel to which it is applied. */
  record Span(Kind kind, int power, long multiple, int offTicks, int offNanos) {
    enum Kind {
      /** A number of nanoseconds. */
      NANOS,
      /** A number of ticks. */
      TICKS,
      /** A multiple of a power of 256, in ticks. */
      POWER,
      /** Until a tick that is a multiple of a power of 256. */
      BORDER,
      /** Until the next tick of the wheel; one tick if that is never. */
      NEXT,
      /** Until the end of time. */
      END,
      NEVER
    }

    long nanos(WheelModel model) {
      Ticks ticks = model.ticks;
      long powerTicks = 1L << (8 * power);
      long nowTick = model.nowTick();
      return switch (kind) {
        case NANOS -> multiple;
        case TICKS -> off(ticks, ticks.nanosAt(multiple));
        case POWER -> off(ticks, ticks.nanosAt(times(multiple, powerTicks)));
        case BORDER -> until(model, times(nowTick / powerTicks + multiple, powerTicks));
        case NEXT -> until(model, nextTick(model));
        case END -> off(ticks, Long.MAX_VALUE - 1 - model.elapsedNanos());
        case NEVER -> Long.MAX_VALUE;
      };
    }

    private static long nextTick(WheelModel model) {
      long nextTick = model.wheel.nextTick();
      return nextTick == Ticks.NEVER ? model.nowTick() + 1 : nextTick;
    }

    private long until(WheelModel model, long tick) {
      return off(model.ticks, model.ticks.nanosAt(tick) - model.elapsedNanos());
    }

    private long off(Ticks ticks, long nanos) {
      long sum = nanos + offTicks * ticks.tickNanos + offNanos;
      return nanos > 0 && sum < 0 && offTicks + offNanos >= 0 ? Long.MAX_VALUE : sum;
    }

    private static long times(long a, long b) {
      return Math.multiplyHigh(a, b) != 0 || a * b < 0 ? Long.MAX_VALUE : a * b;
    }
  }

  // Generation of scripts

  @Provide
  Arbitrary<Long> origins() {
    return Arbitraries.of(Long.MIN_VALUE, -1L, 0L, Long.MAX_VALUE - 5, Long.MAX_VALUE - 90 * MILLI);
  }

  @Provide
  Arbitrary<Long> tickLengths() {
    return Arbitraries.of(1L, 7L, 100_000L, MILLI, 100 * MILLI, 86_400_000 * MILLI);
  }

  /** Returns the number of timeouts from which a slot is opened ahead of time. */
  @Provide
  Arbitrary<Integer> crowds() {
    return Arbitraries.of(1, 5, 70, HierarchicalWheel.LARGE_SLOT);
  }

  @Provide
  Arbitrary<Integer> wheelSizes() {
    return Arbitraries.of(1, 2, 64, 512, 4096);
  }

  @Provide
  Arbitrary<List<Operation>> scripts() {
    Arbitrary<Integer> any = Arbitraries.integers().between(0, MAX_PENDING - 1);
    Arbitrary<Integer> few = Arbitraries.integers().between(1, 3);
    Arbitrary<Integer> counts =
        Arbitraries.frequencyOf(
            Tuple.of(12, few), Tuple.of(2, Arbitraries.integers().between(60, 100)));
    Arbitrary<Long> strides =
        Arbitraries.frequency(
            Tuple.of(6, 0L),
            Tuple.of(2, 1L),
            Tuple.of(2, -1L),
            Tuple.of(1, 19L),
            Tuple.of(2, -253L));
    Arbitrary<Operation> operations =
        Arbitraries.frequencyOf(
            Tuple.of(8, Combinators.combine(counts, strides, delays(), stale()).as(Start::new)),
            Tuple.of(3, Combinators.combine(any, few).as(Stop::new)),
            Tuple.of(1, Combinators.combine(any, few).as(StopSlot::new)),
            Tuple.of(3, Combinators.combine(any, few, delays(), stale()).as(Move::new)),
            Tuple.of(6, advances().map(Advance::new)),
            Tuple.of(6, Combinators.combine(few, polledBehind()).as(Poll::new)),
            Tuple.of(2, Arbitraries.create(PollAll::new)),
            Tuple.of(2, Arbitraries.create(OpenAhead::new)),
            Tuple.of(1, Arbitraries.of(1, 10, 64).map(Drain::new)));
    return operations.list().ofMinSize(1).ofMaxSize(50);
  }

  private static Arbitrary<Span> delays() {
    return Arbitraries.frequencyOf(
        Tuple.of(1, spans(Span.Kind.NANOS, Arbitraries.of(0L, 1L, -1L, -9L, Long.MIN_VALUE))),
        Tuple.of(6, spans(Span.Kind.TICKS, Arbitraries.longs().between(1, 800))),
        Tuple.of(4, spans(Span.Kind.POWER, Arbitraries.longs().between(1, 3))),
        Tuple.of(4, spans(Span.Kind.BORDER, Arbitraries.longs().between(1, 3))),
        Tuple.of(2, spans(Span.Kind.NEXT, Arbitraries.just(0L))),
        Tuple.of(1, spans(Span.Kind.END, Arbitraries.just(0L))),
        Tuple.of(1, spans(Span.Kind.NEVER, Arbitraries.just(0L))));
  }

  private static Arbitrary<Span> advances() {
    return Arbitraries.frequencyOf(
        Tuple.of(1, spans(Span.Kind.NANOS, Arbitraries.of(0L, 1L, -1L, -MILLI))),
        Tuple.of(5, spans(Span.Kind.TICKS, Arbitraries.longs().between(0, 400))),
        Tuple.of(2, spans(Span.Kind.POWER, Arbitraries.longs().between(1, 3))),
        Tuple.of(3, spans(Span.Kind.BORDER, Arbitraries.longs().between(1, 3))),
        Tuple.of(6, spans(Span.Kind.NEXT, Arbitraries.just(0L))));
  }

  /** Returns the age of a clock reading: mostly zero, sometimes small, rarely very large. */
  private static Arbitrary<Span> stale() {
    return Arbitraries.frequencyOf(
        Tuple.of(8, Arbitraries.just(new Span(Span.Kind.NANOS, 0, 0, 0, 0))),
        Tuple.of(2, spans(Span.Kind.TICKS, Arbitraries.longs().between(0, 400))),
        Tuple.of(1, spans(Span.Kind.POWER, Arbitraries.longs().between(1, 3))));
  }

  private static Arbitrary<Integer> polledBehind() {
    return Arbitraries.frequency(Tuple.of(8, 0), Tuple.of(1, 1), Tuple.of(1, 70));
  }

  /**
   * Returns low powers more often than high ones, and exact spans more often than neighbouring
   * ones.
   */
  private static Arbitrary<Span> spans(Span.Kind kind, Arbitrary<Long> multiples) {
    List<Integer> powers = new ArrayList<>();
    for (int power = 0; power <= 7; power++) {
      for (int i = 0; i < (power == 0 ? 1 : 12 / power); i++) {
        powers.add(power);
      }
    }
    Arbitrary<Integer> off = Arbitraries.frequency(Tuple.of(4, 0), Tuple.of(1, 1), Tuple.of(1, -1));
    return Combinators.combine(Arbitraries.of(powers), multiples, off, off)
        .as((power, multiple, ticks, nanos) -> new Span(kind, power, multiple, ticks, nanos));
  }
}
