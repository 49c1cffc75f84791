// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.Quota;
import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.WatchedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * The tokens of a file. Each line is JSON: a name, roles and a SHA-256, and optionally namespaces,
 * an expiry and a quota. The token itself is stored nowhere.
 *
 * <p>A token consists of 256 random bits, so it cannot be guessed from its hash. A slow hash and a
 * salt protect only passwords that people choose. The hash of a received token is compared with
 * every line, each in constant time, so the time reveals nothing about any token.
 *
 * <p>The file is {@linkplain WatchedFile checked} at every request, so a change is effective from
 * the next request on. A malformed line revokes only its own token. While the file cannot be read,
 * its last tokens stay valid for a grace. No error contains any part of the file.
 */
public final class Tokens {
  /** The default grace. */
  public static final Duration GRACE = Duration.ofMinutes(5);

  private static final Logger LOG = LoggerFactory.getLogger(Tokens.class);
  private static final int TOKEN_BYTES = 32;
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._@-]{0,63}";

  private static final Duration MAX_LIFE = Duration.ofDays(36_500);

  private final WatchedFile<List<Entry>> file;
  private final Duration grace;
  private final InstantSource clock;

  @SuppressWarnings("ArrayRecordComponent") // never compared as a record
  private record Entry(Caller caller, @Nullable Instant expires, byte[] hash) {}

  private Tokens(Path path, Duration grace, InstantSource clock) throws IOException {
    this.grace = grace;
    this.clock = clock;
    file =
        new WatchedFile<>(
            path, List.of(), secret -> entries(secret, secret.readReplacing(), false), clock);
  }

  /** Opens a file of tokens with the default grace. */
  public static Tokens open(Path file) throws IOException {
    return open(file, GRACE, InstantSource.system());
  }

  /**
   * Opens a file of tokens, which must contain at least one.
   *
   * @param grace the time for which the last tokens stay valid while the file cannot be read
   * @param clock the clock of expiries and of the grace
   * @throws IOException if it cannot be read, has a malformed line, or is readable for other users
   */
  public static Tokens open(Path file, Duration grace, InstantSource clock) throws IOException {
    SecretFile secret = new SecretFile(file);
    if (entries(secret, secret.readReplacing(), true).isEmpty()) {
      throw new IOException(file + ": no tokens (create one with: timewheel tokens create)");
    }
    return new Tokens(file, grace, clock);
  }

  /** {@return whether the file can be read, so that its changes are effective} */
  public boolean isReadable() {
    return file.failingSince() == null;
  }

  /** {@return the caller with a token; null if the token is unknown or has expired} */
  public @Nullable Caller caller(String token) {
    Entry entry = find(token);
    return entry == null || (entry.expires != null && !clock.instant().isBefore(entry.expires))
        ? null
        : entry.caller;
  }

  /** {@return the expiry of a token; null if it has none or is unknown} */
  public @Nullable Instant expiry(String token) {
    Entry entry = find(token);
    return entry == null ? null : entry.expires;
  }

  private @Nullable Entry find(String token) {
    byte[] shown = sha256(token);
    Entry found = null;
    Instant since = file.failingSince();
    boolean revoked = since != null && !clock.instant().isBefore(since.plus(grace));
    for (Entry entry : revoked ? List.<Entry>of() : file.content()) {
      if (MessageDigest.isEqual(entry.hash, shown)) {
        found = entry;
      }
    }
    return found;
  }

  // The file

  /** Parses the lines. A malformed one is refused, or else logged and left out. */
  private static List<Entry> entries(SecretFile file, String content, boolean refuses)
      throws IOException {
    List<Entry> entries = new ArrayList<>();
    Set<String> names = new HashSet<>();
    int number = 0;
    for (String line : content.lines().toList()) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      try {
        if (line.contains(SecretFile.REPLACEMENT)) {
          throw wrong("malformed", "UTF-8");
        }
        Entry entry = Line.read(line);
        if (!names.add(entry.caller.name())) {
          throw wrong("name", "another one than on the lines before");
        }
        entries.add(entry);
      } catch (Problem.Failure | IllegalArgumentException e) {
        String error = file + ", line " + number + ": " + e.getMessage();
        if (refuses) {
          throw new IOException(error);
        }
        LOG.error("A token is revoked: {}", error);
      }
    }
    return entries;
  }

  /** A line of the file. */
  private record Line(
      @Nullable String name,
      @Nullable List<String> roles,
      @Nullable JsonNode namespaces,
      @Nullable Instant expires,
      @Nullable Quota quota,
      @Nullable String sha256) {

    static Entry read(String text) {
      Line line = parse(text);
      String name = line.name;
      if (name == null || !name.matches(NAME)) {
        throw wrong("name", "letters, digits and any of . _ @ -, 64 at most");
      }
      if (line.sha256 == null || !line.sha256.matches("[0-9a-f]{64}")) {
        throw wrong("sha256", "64 hexadecimal digits");
      }
      return new Entry(
          new Caller(
              name,
              rolesOf(line.roles == null ? List.of() : line.roles),
              namespaces(line.namespaces),
              line.quota == null ? Quota.NONE : line.quota.checked()),
          line.expires,
          HexFormat.of().parseHex(line.sha256));
    }

    /** Parses the JSON. The parser's own error could contain any part of the line. */
    private static Line parse(String text) {
      try {
        return JsonReader.read(text, Line.class);
      } catch (RuntimeException e) {
        String path = e instanceof Problem.Failure failure ? failure.problem().field() : null;
        String field = String.valueOf(path).split("\\.", 2)[0];
        boolean known =
            Arrays.stream(Line.class.getRecordComponents())
                .anyMatch(component -> component.getName().equals(field));
        throw wrong(known ? field : "malformed", "JSON as `timewheel tokens create` writes it");
      }
    }

    /**
     * Parses the namespaces. Null does not count as absent: a mistake must not admit a token to all
     * namespaces.
     */
    private static Set<String> namespaces(@Nullable JsonNode sent) {
      if (sent == null) {
        return Set.of();
      }
      if (!sent.isArray() || sent.isEmpty()) {
        throw wrong("namespaces", "one at least, or no such field for all");
      }
      Set<String> namespaces = new HashSet<>();
      for (JsonNode each : sent) {
        if (!each.isString()) {
          throw wrong("namespaces", "texts");
        }
        namespaces.add(Names.checked("namespaces", each.asString()));
      }
      return Set.copyOf(namespaces);
    }
  }

  private static Set<Role> rolesOf(Collection<String> names) {
    Set<Role> roles = EnumSet.noneOf(Role.class);
    for (String name : names) {
      roles.add(
          Role.all().stream()
              .filter(role -> Json.name(role).equals(name))
              .findAny()
              .orElseThrow(Tokens::wrongRole));
    }
    if (roles.isEmpty()) {
      throw wrongRole();
    }
    return roles;
  }

  private static Problem.Failure wrongRole() {
    return wrong("roles", "some of " + Role.all().stream().map(Json::name).toList());
  }

  private static Problem.Failure wrong(String field, String expected) {
    return Problem.malformed(field + " (expected: " + expected + ")").failure();
  }

  // A new token

  /**
   * A token to create.
   *
   * @param roles its roles, one or more
   * @param namespaces its namespaces; none for all
   * @param life the time until it expires; null for no expiry
   */
  public record NewToken(
      String name,
      Set<String> roles,
      Set<String> namespaces,
      @Nullable Duration life,
      Quota quota) {}

  /** Creates a token without expiry and limits. Commas separate its roles. */
  public static String add(Path file, String name, String roles, Set<String> namespaces)
      throws IOException {
    NewToken made = new NewToken(name, Set.of(roles.split(",")), namespaces, null, Quota.NONE);
    return add(file, made, InstantSource.system());
  }

  /**
   * Creates a token, and appends its line to the file, which is created if it is absent.
   *
   * @return the token, which cannot be shown again
   * @throws FileAlreadyExistsException if there is a token with that name
   * @throws IOException if the file cannot be written, or one of its lines is malformed
   */
  public static String add(Path file, NewToken wanted, InstantSource clock) throws IOException {
    byte[] random = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(random);
    String token = "tw_" + Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    String name = wanted.name;
    String line = line(wanted, clock, token);
    Entry made = Line.read(line);
    SecretFile secret = new SecretFile(file);
    secret.create();
    secret.check();
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      var unused = channel.lock(); // excludes concurrent commands; released with the channel
      String content = new String(Channels.newInputStream(channel).readAllBytes(), UTF_8);
      for (Entry entry : entries(secret, content, true)) {
        if (entry.caller.name().equals(made.caller.name())) {
          throw new FileAlreadyExistsException(file.toString(), null, "it has a token " + name);
        }
      }
      String before = content.isEmpty() || content.endsWith("\n") ? "" : "\n";
      channel.write(ByteBuffer.wrap((before + line + "\n").getBytes(UTF_8)), channel.size());
      channel.force(true);
    }
    return token;
  }

  private static String line(NewToken wanted, InstantSource clock, String token) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("name", wanted.name);
    line.put("roles", new TreeSet<>(wanted.roles));
    if (!wanted.namespaces.isEmpty()) {
      line.put("namespaces", new TreeSet<>(wanted.namespaces));
    }
    Duration life = wanted.life;
    if (life != null) {
      if (life.isNegative() || life.isZero() || life.compareTo(MAX_LIFE) > 0) {
        throw wrong("expires", "more than PT0S, at most P" + MAX_LIFE.toDays() + "D");
      }
      line.put("expires", clock.instant().plus(life).truncatedTo(ChronoUnit.SECONDS));
    }
    if (!wanted.quota.equals(Quota.NONE)) {
      line.put("quota", wanted.quota);
    }
    line.put("sha256", HexFormat.of().formatHex(sha256(token)));
    return Json.text(line);
  }

  private static byte[] sha256(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // every JDK supports it
    }
  }
}
