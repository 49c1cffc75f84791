// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.InvalidArgumentException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** Parses one cron expression into bits. {@link Cron} describes the syntax. */
final class CronParser {
  /** The largest length: more than that of an expression with every value of every field. */
  static final int MAX_LENGTH = 1_000;

  private static final int MAX_QUOTED = 100;
  private static final Pattern BLANKS = Pattern.compile("[ \t]+");
  private static final Pattern UNPRINTABLE = Pattern.compile("[^ -~]");
  private static final Map<String, String> MACROS =
      Map.of(
          "@YEARLY", "0 0 1 1 *",
          "@ANNUALLY", "0 0 1 1 *",
          "@MONTHLY", "0 0 1 * *",
          "@WEEKLY", "0 0 * * 0",
          "@DAILY", "0 0 * * *",
          "@MIDNIGHT", "0 0 * * *",
          "@HOURLY", "0 * * * *");

  private final String expression;

  private long fromLast;
  private long nearestWeekdays;
  private long nthWeekdays;
  private long lastWeekdays;

  private CronParser(String expression) {
    this.expression = expression;
  }

  static Cron parse(String expression) {
    requireNonNull(expression, "expression");
    return new CronParser(expression).parse();
  }

  private Cron parse() {
    if (expression.length() > MAX_LENGTH) {
      throw wrong(expression.length() + " characters; expected at most " + MAX_LENGTH);
    }
    for (int i = 0; i < expression.length(); i++) {
      char c = expression.charAt(i);
      if ((c < ' ' || c > '~') && c != '\t') {
        throw wrong(
            String.format("character U+%04X at index %d; expected plain ASCII", (int) c, i));
      }
    }
    String upper = BLANKS.matcher(expression).replaceAll(" ").strip().toUpperCase(Locale.ROOT);
    String text = upper.startsWith("@") ? macro(upper) : upper;
    String[] fields = text.isEmpty() ? new String[0] : text.split(" ");
    if (fields.length != 5 && fields.length != 6) {
      throw wrong(
          (fields.length == 1 ? "1 field" : fields.length + " fields")
              + "; expected 5 (minute hour day-of-month month day-of-week), or 6 with a second"
              + " first");
    }
    int at = fields.length - 5;
    long seconds = at == 0 ? 1 : bits(CronField.SECOND, fields[0]);
    long minutes = bits(CronField.MINUTE, fields[at]);
    long hours = bits(CronField.HOUR, fields[at + 1]);
    long dates = bits(CronField.DAY_OF_MONTH, fields[at + 2]);
    long months = bits(CronField.MONTH, fields[at + 3]);
    long weekdays = bits(CronField.DAY_OF_WEEK, fields[at + 4]);
    CronDays days =
        new CronDays(
            dates,
            fromLast,
            nearestWeekdays,
            weekdays,
            nthWeekdays,
            lastWeekdays,
            eitherDay(fields));
    Cron cron = new Cron(text, seconds, minutes, hours, months, days);
    if (!cron.comes()) {
      throw wrong(
          "never comes: month '%s' has no day that matches day-of-month '%s' and day-of-week '%s'"
              .formatted(fields[at + 3], fields[at + 2], fields[at + 4]));
    }
    return cron;
  }

  private String macro(String name) {
    String text = MACROS.get(name);
    if (text == null) {
      throw wrong(
          "unknown macro; expected @yearly, @annually, @monthly, @weekly, @daily, @midnight or"
              + " @hourly");
    }
    return text;
  }

  /**
   * Returns whether a day must match only one of the fields. With two restricted day fields,
   * crontab requires either, Spring both, and Quartz allows neither.
   */
  private boolean eitherDay(String[] fields) {
    String dayOfMonth = fields[fields.length - 3];
    String dayOfWeek = fields[fields.length - 1];
    if (isOpen(dayOfMonth) || isOpen(dayOfWeek)) {
      return false;
    }
    if (fields.length == 6) {
      throw wrong(
          ("day-of-month '%s' and day-of-week '%s' are both restricted; with 6 fields, expected *"
                  + " or ? in one of them (crontab, with 5, runs on either day; Spring only where"
                  + " both agree)")
              .formatted(dayOfMonth, dayOfWeek));
    }
    return true;
  }

  private static boolean isOpen(String field) {
    return field.startsWith("*") || field.equals("?");
  }

  private long bits(CronField field, String text) {
    if (text.equals("?") && field.takesQuestionMark()) {
      return range(field, field.min, field.max, 1);
    }
    long bits = 0;
    for (String item : text.split(",", -1)) {
      if (item.isEmpty()) {
        throw wrong(field, text, "is a list with an empty item; expected " + field.expected);
      }
      bits |= isSpecial(field, item) ? 0 : plain(field, item);
    }
    return bits;
  }

  /** Parses the items with L, W and #, which depend on the month. Returns false for other items. */
  private boolean isSpecial(CronField field, String item) {
    if (field == CronField.DAY_OF_MONTH) {
      if (item.equals("L")) {
        fromLast |= 1;
      } else if (item.startsWith("L-")) {
        fromLast |= 1L << number(field, item, item.substring(2), 1, 30);
      } else if (item.equals("LW")) {
        nearestWeekdays |= 1;
      } else if (item.endsWith("W")) {
        String day = item.substring(0, item.length() - 1);
        nearestWeekdays |= 1L << number(field, item, day, 1, 31);
      } else {
        return false;
      }
      return true;
    }
    if (field == CronField.DAY_OF_WEEK) {
      int hash = item.indexOf('#');
      if (hash >= 0) {
        int weekday = value(field, item, item.substring(0, hash)) % 7;
        int n = number(field, item, item.substring(hash + 1), 1, 5);
        nthWeekdays |= 1L << (7 * (n - 1) + weekday);
        return true;
      }
      if (item.endsWith("L")) {
        lastWeekdays |= 1L << value(field, item, item.substring(0, item.length() - 1)) % 7;
        return true;
      }
    }
    return false;
  }

  private long plain(CronField field, String item) {
    int slash = item.indexOf('/');
    String values = slash < 0 ? item : item.substring(0, slash);
    int step = slash < 0 ? 1 : step(field, item, item.substring(slash + 1));
    if (values.equals("*")) {
      return range(field, field.min, field.max, step);
    }
    int dash = values.indexOf('-');
    int from = value(field, item, dash < 0 ? values : values.substring(0, dash));
    if (dash >= 0) {
      String end = values.substring(dash + 1);
      int to = value(field, item, end);
      return range(field, from, end.equals("SUN") ? field.greatest() : to, step);
    }
    return range(field, from, slash < 0 ? from : field.greatest(), step);
  }

  /**
   * Returns the bits of a range. A range that ends before it begins wraps around: 22-2 is 22, 23,
   * 0, 1, 2.
   */
  private static long range(CronField field, int from, int to, int step) {
    long bits = 0;
    int last = to < from ? to + field.size() : to;
    for (int i = from; i <= last; i += step) {
      bits |= 1L << (field.min + (i - field.min) % field.size());
    }
    return bits;
  }

  private int step(CronField field, String item, String text) {
    int step = parseNumber(text);
    if (step < 1 || step > field.size()) {
      throw wrong(field, item, "has the step '%s'; expected 1 to %d".formatted(text, field.size()));
    }
    return step;
  }

  private int value(CronField field, String item, String text) {
    List<String> names = field.names();
    int name = names.indexOf(text);
    return name >= 0 ? field.min + name : number(field, item, text, field.min, field.greatest());
  }

  private int number(CronField field, String item, String text, int min, int max) {
    int number = parseNumber(text);
    if (number < min || number > max) {
      if (text.isEmpty() || text.equals(item)) {
        throw wrong(field, item, "is not valid; expected " + field.expected);
      }
      throw wrong(
          field,
          item,
          "has '%s' where a number from %d to %d was expected; the field takes %s"
              .formatted(text, min, max, field.expected));
    }
    return number;
  }

  /** Returns the number of one to four digits; -1 for other texts. */
  private static int parseNumber(String text) {
    if (text.isEmpty() || text.length() > 4) {
      return -1;
    }
    int number = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return -1;
      }
      number = number * 10 + c - '0';
    }
    return number;
  }

  private IllegalArgumentException wrong(CronField field, String item, String problem) {
    return wrong("field " + field.label + ": '" + item + "' " + problem);
  }

  private IllegalArgumentException wrong(String problem) {
    return new InvalidArgumentException("cron " + quoted(expression) + ": " + problem);
  }

  /** Quotes a text of any length and content for one line of a log. */
  static String quoted(String text) {
    boolean cut = text.length() > MAX_QUOTED;
    String shown = cut ? text.substring(0, MAX_QUOTED) : text;
    return "'" + UNPRINTABLE.matcher(shown).replaceAll("?") + (cut ? "…'" : "'");
  }
}
