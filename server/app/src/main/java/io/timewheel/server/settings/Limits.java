// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import io.timewheel.durable.spi.SharedLimit;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Limits of queues, webhook hosts and namespaces, from a file that is read again when it changes.
 * Each line names a queue, a host or a namespace, and has its limits:
 *
 * <pre>
 * queue     shop/orders    rate=100/s concurrency=20
 * host      shop.example   rate=5/m
 * namespace *              pending=100000 writes=500/s claims=50 streams=20
 * namespace shop           writes=5000/s
 * </pre>
 *
 * <p>The line of {@code *} is for each namespace; another line replaces some of its limits. A
 * namespace or queue with a blank, a slash or a number sign is percent-encoded, and so is a
 * namespace that is called {@code *}.
 */
public final class Limits {
  private static final Pattern RATE = Pattern.compile("rate=(\\d{1,9}(?:\\.\\d{1,6})?)/([smh])");
  private static final Pattern CONCURRENCY = Pattern.compile("concurrency=(\\d{1,9})");
  private static final Pattern QUOTA =
      Pattern.compile("(pending|claims|streams|writes)=(\\d{1,13})(/s)?");
  private static final String EACH = "namespace *";
  private static final String EXPECTED =
      " (expected: queue NAMESPACE/QUEUE or host NAME, then rate=100/s (or /m, /h), concurrency=20,"
          + " or both; or namespace NAME, or namespace * for each, then some of pending=1000,"
          + " claims=50, streams=20 and writes=500/s)";

  private static final Content NONE = new Content(List.of(), Map.of(), Map.of());

  private final @Nullable WatchedFile<Content> file;

  private Limits(@Nullable WatchedFile<Content> file) {
    this.file = file;
  }

  /** A line as it was written, such as {@code queue shop/orders} and {@code rate=100/s}. */
  public record Line(String name, String text) {}

  /** The lines, and their limits by their decoded names. */
  private record Content(
      List<Line> lines, Map<String, SharedLimit> attempts, Map<String, Quota> quotas) {
    Quota quota(String namespace) {
      Quota each = quotas.getOrDefault(EACH, Quota.NONE);
      Quota own = quotas.get("namespace " + namespace + "\n");
      return own == null ? each : own.or(each);
    }
  }

  public static Limits none() {
    return new Limits(null);
  }

  /** Reads the limits for the first time. */
  public static Limits open(Path path) throws IOException {
    WatchedFile.Reader<Content> reader = unused -> parse(Files.readAllLines(path));
    return new Limits(new WatchedFile<>(path, List.of(), reader, InstantSource.system()));
  }

  private Content content() {
    return file == null ? NONE : file.content();
  }

  public List<Line> lines() {
    return content().lines;
  }

  /** {@return the present limit of a queue, or null} */
  public @Nullable SharedLimit queue(String namespace, String queue) {
    return content().attempts.get("queue " + namespace + "\n" + queue);
  }

  /** {@return the present limit of a host, or null} */
  public @Nullable SharedLimit host(String host) {
    return content().attempts.get("host " + host.toLowerCase(Locale.ROOT));
  }

  /** {@return the present quotas of namespaces, by name} */
  public Function<String, Quota> quotas() {
    return content()::quota;
  }

  private static Content parse(List<String> lines) throws IOException {
    List<Line> found = new ArrayList<>();
    Map<String, SharedLimit> attempts = new HashMap<>();
    Map<String, Quota> quotas = new HashMap<>();
    int number = 0;
    for (String line : lines) {
      number++;
      String text = line.replaceFirst("#.*", "").strip();
      if (!text.isEmpty()) {
        List<String> words = List.of(text.split("\\s+"));
        try {
          boolean isNew;
          String key = words.size() < 3 ? null : key(words.get(0), words.get(1));
          if (key == null) {
            throw new IllegalArgumentException(text + EXPECTED);
          } else if (words.get(0).equals("namespace")) {
            isNew = quotas.put(key, quota(text, words.subList(2, words.size()))) == null;
          } else {
            isNew = attempts.put(key, limit(text, words.subList(2, words.size()))) == null;
          }
          if (!isNew) {
            throw new IllegalArgumentException(
                words.get(0) + " " + words.get(1) + " is a duplicate");
          }
        } catch (IllegalArgumentException e) {
          throw new IOException("line " + number + ": " + e.getMessage(), e);
        }
        found.add(
            new Line(
                words.get(0) + " " + words.get(1),
                String.join(" ", words.subList(2, words.size()))));
      }
    }
    return new Content(List.copyOf(found), Map.copyOf(attempts), Map.copyOf(quotas));
  }

  private static @Nullable String key(String kind, String name) {
    int slash = name.indexOf('/');
    return switch (kind) {
      case "queue" ->
          slash > 0 && slash == name.lastIndexOf('/')
              ? "queue "
                  + decode(name.substring(0, slash))
                  + "\n"
                  + decode(name.substring(slash + 1))
              : null;
      case "host" -> slash < 0 ? "host " + name.toLowerCase(Locale.ROOT) : null;
      case "namespace" ->
          slash >= 0 ? null : name.equals("*") ? EACH : "namespace " + decode(name) + "\n";
      default -> null;
    };
  }

  private static String decode(String name) {
    return URLDecoder.decode(name.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static SharedLimit limit(String text, List<String> words) {
    double perSecond = 0;
    int maxRunning = 0;
    for (String word : words) {
      Matcher rate = RATE.matcher(word);
      Matcher concurrency = CONCURRENCY.matcher(word);
      if (rate.matches() && perSecond == 0) {
        int seconds = rate.group(2).equals("s") ? 1 : rate.group(2).equals("m") ? 60 : 3_600;
        perSecond = positive(Double.parseDouble(rate.group(1)), word) / seconds;
      } else if (concurrency.matches() && maxRunning == 0) {
        maxRunning = (int) positive(Integer.parseInt(concurrency.group(1)), word);
      } else {
        throw new IllegalArgumentException(text + EXPECTED);
      }
    }
    return new SharedLimit(perSecond, maxRunning);
  }

  private static double positive(double number, String word) {
    if (number == 0) {
      throw new IllegalArgumentException(word + " would be a pause (expected: more than 0)");
    }
    return number;
  }

  private static Quota quota(String text, List<String> words) {
    Map<String, Long> limits = new HashMap<>();
    for (String word : words) {
      Matcher quota = QUOTA.matcher(word);
      if (!quota.matches()
          || quota.group(1).equals("writes") == (quota.group(3) == null)
          || limits.put(quota.group(1), Long.valueOf(quota.group(2))) != null) {
        throw new IllegalArgumentException(text + EXPECTED);
      }
    }
    return new Quota(
            limits.get("pending"),
            limits.get("claims"),
            limits.get("streams"),
            limits.get("writes"))
        .checked();
  }
}
