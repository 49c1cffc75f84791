// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import io.timewheel.durable.spi.SharedLimit;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Limits of queues and of webhook hosts, from a file that is read again when it changes. Each line
 * names a queue or a host and has a rate, a number of concurrent attempts, or both:
 *
 * <pre>
 * queue shop/orders    rate=100/s concurrency=20
 * host  shop.example   rate=5/m
 * </pre>
 *
 * <p>A namespace or queue with a blank, a slash or a number sign is percent-encoded.
 */
public final class AttemptLimits {
  private static final Pattern RATE = Pattern.compile("rate=(\\d{1,9}(?:\\.\\d{1,6})?)/([smh])");
  private static final Pattern CONCURRENCY = Pattern.compile("concurrency=(\\d{1,9})");

  private final @Nullable WatchedFile<Map<String, Line>> file;

  private AttemptLimits(@Nullable WatchedFile<Map<String, Line>> file) {
    this.file = file;
  }

  /**
   * A limit as it was written.
   *
   * @param name such as {@code queue shop/orders}
   * @param text such as {@code rate=100/s concurrency=20}
   * @param limit the limit
   */
  public record Line(String name, String text, SharedLimit limit) {}

  /** {@return limits that limit nothing} */
  public static AttemptLimits none() {
    return new AttemptLimits(null);
  }

  /**
   * Reads the limits for the first time.
   *
   * @param path the file
   * @throws IOException if it cannot be read
   */
  public static AttemptLimits open(Path path) throws IOException {
    return new AttemptLimits(
        new WatchedFile<>(path, file -> parse(Files.readAllLines(Path.of(file.toString())))));
  }

  /** {@return the present lines} */
  public List<Line> lines() {
    return file == null ? List.of() : List.copyOf(file.content().values());
  }

  /** {@return the present limit of a queue, or null} */
  public @Nullable SharedLimit queue(String namespace, String queue) {
    return find("queue " + namespace + "\n" + queue);
  }

  /** {@return the present limit of a host, or null} */
  public @Nullable SharedLimit host(String host) {
    return find("host " + host.toLowerCase(Locale.ROOT));
  }

  private @Nullable SharedLimit find(String key) {
    Line line = file == null ? null : file.content().get(key);
    return line == null ? null : line.limit;
  }

  private static Map<String, Line> parse(List<String> lines) throws IOException {
    Map<String, Line> limits = new LinkedHashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String text = lines.get(i).replaceFirst("#.*", "").strip();
      if (!text.isEmpty()) {
        String[] words = text.split("\\s+");
        String key = words.length < 3 ? null : key(words[0], words[1]);
        SharedLimit limit = key == null ? null : limit(words);
        if (key == null || limit == null) {
          throw new IOException(
              "line "
                  + (i + 1)
                  + ": "
                  + text
                  + " (expected: queue NAMESPACE/QUEUE or host NAME, then rate=100/s (or /m, /h),"
                  + " concurrency=20, or both)");
        }
        String rest = String.join(" ", List.of(words).subList(2, words.length));
        if (limits.put(key, new Line(words[0] + " " + words[1], rest, limit)) != null) {
          throw new IOException(
              "line " + (i + 1) + ": " + words[0] + " " + words[1] + " comes twice");
        }
      }
    }
    return limits;
  }

  private static @Nullable String key(String kind, String name) {
    int slash = name.indexOf('/');
    try {
      if (kind.equals("queue") && slash > 0 && slash == name.lastIndexOf('/')) {
        return "queue "
            + decode(name.substring(0, slash))
            + "\n"
            + decode(name.substring(slash + 1));
      }
    } catch (IllegalArgumentException e) {
      return null;
    }
    return kind.equals("host") && slash < 0 ? "host " + name.toLowerCase(Locale.ROOT) : null;
  }

  private static String decode(String name) {
    return URLDecoder.decode(name.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static @Nullable SharedLimit limit(String[] words) {
    double perSecond = 0;
    int maxRunning = 0;
    for (String word : List.of(words).subList(2, words.length)) {
      Matcher rate = RATE.matcher(word);
      Matcher concurrency = CONCURRENCY.matcher(word);
      if (rate.matches() && perSecond == 0) {
        int seconds = rate.group(2).equals("s") ? 1 : rate.group(2).equals("m") ? 60 : 3_600;
        perSecond = Double.parseDouble(rate.group(1)) / seconds;
        if (perSecond == 0) {
          return null; // that is a pause
        }
      } else if (concurrency.matches() && maxRunning == 0) {
        maxRunning = Integer.parseInt(concurrency.group(1));
        if (maxRunning == 0) {
          return null;
        }
      } else {
        return null;
      }
    }
    return new SharedLimit(perSecond, maxRunning);
  }
}
