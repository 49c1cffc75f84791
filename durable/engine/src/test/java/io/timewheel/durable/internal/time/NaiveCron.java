// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A random cron expression with its meaning as predicates on dates and times. It shares no code
 * with {@link Cron}, which gets only the text.
 */
record NaiveCron(String text, Predicate<LocalDate> dates, Predicate<LocalTime> times) {
  private static final List<String> MONTHS =
      List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
  private static final List<String> WEEKDAYS =
      List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

  /** The syntax of generated expressions. */
  enum Dialect {
    OURS,
    /** Without ranges that wrap around, which Spring refuses. */
    SPRING,
    /** Only syntax of crontab: five fields with plain values. */
    UNIX
  }

  private record Item<T>(String text, Predicate<T> matches) {}

  boolean matches(LocalDateTime time) {
    return dates.test(time.toLocalDate()) && times.test(time.toLocalTime());
  }

  /**
   * Returns the next run by brute force, day by day and then second by second; null if there is
   * none before a limit.
   */
  @Nullable LocalDateTime next(LocalDateTime after, LocalDate before) {
    LocalDateTime start = after.plusSeconds(1);
    LocalTime from = start.toLocalTime();
    for (LocalDate day = start.toLocalDate(); day.isBefore(before); day = day.plusDays(1)) {
      if (dates.test(day)) {
        for (int second = from.toSecondOfDay(); second < 86_400; second++) {
          LocalTime time = LocalTime.ofSecondOfDay(second);
          if (times.test(time)) {
            return day.atTime(time);
          }
        }
      }
      from = LocalTime.MIN;
    }
    return null;
  }

  static NaiveCron random(Random random, Dialect dialect) {
    boolean seconds = dialect != Dialect.UNIX && random.nextBoolean();
    Item<LocalTime> second =
        seconds
            ? times(random, dialect, 0, 59, LocalTime::getSecond)
            : new Item<>("", time -> time.getSecond() == 0);
    Item<LocalTime> minute = times(random, dialect, 0, 59, LocalTime::getMinute);
    Item<LocalTime> hour = times(random, dialect, 0, 23, LocalTime::getHour);
    Item<LocalDate> dayOfMonth = field(random, () -> dayOfMonth(random, dialect));
    Item<LocalDate> month = field(random, () -> month(random, dialect));
    Item<LocalDate> dayOfWeek = field(random, () -> dayOfWeek(random, dialect));
    boolean open = dayOfMonth.text.startsWith("*") || dayOfWeek.text.startsWith("*");
    if (!open && (seconds || dialect == Dialect.SPRING)) {
      dayOfWeek = new Item<>("?", date -> true);
      open = true;
    }
    Predicate<LocalDate> day =
        open ? dayOfMonth.matches.and(dayOfWeek.matches) : dayOfMonth.matches.or(dayOfWeek.matches);
    String text =
        String.join(
            " ", second.text, minute.text, hour.text, dayOfMonth.text, month.text, dayOfWeek.text);
    return new NaiveCron(
        text.strip(), month.matches.and(day), second.matches.and(minute.matches).and(hour.matches));
  }

  private static Item<LocalTime> times(
      Random random, Dialect dialect, int min, int max, ToIntFunction<LocalTime> value) {
    return field(
        random,
        () -> {
          Item<Integer> numbers = numbers(random, dialect, min, max, List.of());
          return new Item<>(numbers.text, time -> numbers.matches.test(value.applyAsInt(time)));
        });
  }

  /** Returns all values, one item, or a list. */
  private static <T> Item<T> field(Random random, Supplier<Item<T>> items) {
    if (random.nextInt(3) == 0) {
      return new Item<>("*", value -> true);
    }
    List<Item<T>> list = new ArrayList<>();
    int count = random.nextInt(3) == 0 ? 2 + random.nextInt(3) : 1;
    for (int i = 0; i < count; i++) {
      list.add(items.get());
    }
    return new Item<>(
        list.stream().map(Item::text).collect(Collectors.joining(",")),
        value -> list.stream().anyMatch(item -> item.matches.test(value)));
  }

  private static Item<Integer> numbers(
      Random random, Dialect dialect, int min, int max, List<String> names) {
    int size = max - min + 1;
    int a = min + random.nextInt(size);
    int b = min + random.nextInt(size);
    if (dialect != Dialect.OURS && a > b) {
      int swap = a;
      a = b;
      b = swap;
    }
    if (a == b && names == WEEKDAYS) {
      // From Sunday to Sunday is the whole week if the end has its name, and one day if it is 0.
      b = Math.min(b + 1, max);
    }
    int from = a;
    int length = Math.floorMod(b - a, size);
    int step = 1 + random.nextInt(size - 1);
    String first = name(random, names, from, min);
    return switch (random.nextInt(dialect == Dialect.UNIX ? 4 : 5)) {
      case 0 -> new Item<>(first, value -> value == from);
      case 1 -> new Item<>("*/" + step, value -> (value - min) % step == 0);
      case 2 ->
          new Item<>(
              first + "-" + name(random, names, b, min),
              value -> Math.floorMod(value - from, size) <= length);
      case 3 ->
          new Item<>(
              first + "-" + name(random, names, b, min) + "/" + step,
              value ->
                  Math.floorMod(value - from, size) <= length
                      && Math.floorMod(value - from, size) % step == 0);
      default ->
          new Item<>(first + "/" + step, value -> value >= from && (value - from) % step == 0);
    };
  }

  private static String name(Random random, List<String> names, int value, int min) {
    if (names.isEmpty() || random.nextBoolean()) {
      return String.valueOf(value);
    }
    String name = names.get(value - min);
    return random.nextBoolean() ? name : name.toLowerCase(Locale.ROOT);
  }

  private static Item<LocalDate> month(Random random, Dialect dialect) {
    Item<Integer> months = numbers(random, dialect, 1, 12, MONTHS);
    return new Item<>(months.text, date -> months.matches.test(date.getMonthValue()));
  }

  private static Item<LocalDate> dayOfMonth(Random random, Dialect dialect) {
    int n = 1 + random.nextInt(30);
    return switch (dialect == Dialect.UNIX ? 4 : random.nextInt(8)) {
      case 0 -> new Item<>("L", date -> date.plusDays(1).getDayOfMonth() == 1);
      case 1 -> new Item<>("L-" + n, date -> date.lengthOfMonth() - date.getDayOfMonth() == n);
      case 2 -> new Item<>(n + "W", date -> isNearestWeekday(date, n));
      case 3 -> new Item<>("LW", date -> isNearestWeekday(date, date.lengthOfMonth()));
      default -> {
        Item<Integer> days = numbers(random, dialect, 1, 31, List.of());
        yield new Item<>(days.text, date -> days.matches.test(date.getDayOfMonth()));
      }
    };
  }

  /** Returns whether no other weekday of the month is nearer to a day of the month. */
  private static boolean isNearestWeekday(LocalDate date, int day) {
    IntPredicate weekday =
        d -> date.withDayOfMonth(d).getDayOfWeek().getValue() <= DayOfWeek.FRIDAY.getValue();
    return day <= date.lengthOfMonth()
        && weekday.test(date.getDayOfMonth())
        && IntStream.rangeClosed(1, date.lengthOfMonth())
            .filter(weekday)
            .noneMatch(d -> Math.abs(d - day) < Math.abs(date.getDayOfMonth() - day));
  }

  private static Item<LocalDate> dayOfWeek(Random random, Dialect dialect) {
    int weekday = random.nextInt(7);
    String name = name(random, WEEKDAYS, weekday, 0);
    Predicate<LocalDate> matches = date -> date.getDayOfWeek().getValue() % 7 == weekday;
    int n = 1 + random.nextInt(5);
    return switch (dialect == Dialect.UNIX ? 3 : random.nextInt(6)) {
      case 0 ->
          new Item<>(
              name + "L", matches.and(date -> date.plusDays(7).getMonth() != date.getMonth()));
      case 1 ->
          new Item<>(name + "#" + n, matches.and(date -> (date.getDayOfMonth() + 6) / 7 == n));
      case 2 -> new Item<>("7", date -> date.getDayOfWeek() == DayOfWeek.SUNDAY);
      default -> {
        Item<Integer> days = numbers(random, dialect, 0, 6, WEEKDAYS);
        IntPredicate weekdays = day -> days.matches.test(day) || (day == 0 && days.matches.test(7));
        yield new Item<>(days.text, date -> weekdays.test(date.getDayOfWeek().getValue() % 7));
      }
    };
  }
}
