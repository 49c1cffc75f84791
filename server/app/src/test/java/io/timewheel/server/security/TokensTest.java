// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.server.settings.Quota;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Tests the file of tokens. */
class TokensTest {
  private static final String HASH = "0".repeat(64);
  private static final FileAttribute<?> OWNER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** A token where it must not be: in the file that should contain its hash. */
  private static final String RAW = "tw_Zm9yIHRoZSBleWVzIG9mIGl0cyBob2xkZXIgb25seQ";

  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void name() {
    file = directory.resolve("tokens");
  }

  private void write(String content) throws IOException {
    Files.writeString(file, content);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void findsCreatedTokens() throws IOException {
    String all = Tokens.add(file, "ops", "admin", Set.of());
    String one = Tokens.add(file, "shop", "read", Set.of("shop", "a,b c"));

    Tokens tokens = Tokens.open(file);
    assertThat(tokens.caller(all)).isEqualTo(new Caller("ops", Set.of(Role.ADMIN), Set.of()));
    assertThat(tokens.caller(one))
        .isEqualTo(new Caller("shop", Set.of(Role.READ), Set.of("shop", "a,b c")));
    assertThat(tokens.caller("tw_x")).isNull();
    assertThat(all).matches("tw_[A-Za-z0-9_-]{43}").isNotEqualTo(one);
  }

  /**
   * A comparison that ends at the first difference would reveal the number of correct characters.
   */
  @Test
  void comparesInConstantTime() throws IOException {
    try (InputStream code = Tokens.class.getResourceAsStream("Tokens.class")) {
      assertThat(new String(code.readAllBytes(), ISO_8859_1))
          .contains("java/security/MessageDigest", "isEqual")
          .doesNotContain("java/util/Arrays");
    }
  }

  @Test
  void keepsTheHashAlone() throws IOException {
    String token = Tokens.add(file, "ops", "admin", Set.of());

    assertThat(Files.readString(file)).doesNotContain(token.substring(3)).contains("sha256");
    assertThat(Files.getPosixFilePermissions(file))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void aNameBelongsToOneToken() throws IOException {
    Tokens.add(file, "ops", "admin", Set.of());
    String before = Files.readString(file);

    assertThatThrownBy(() -> Tokens.add(file, "ops", "read", Set.of()))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining("ops");
    assertThat(file).hasContent(before);
  }

  @Test
  void appendsALineAfterOneThatWasNotEnded() throws IOException {
    write("{\"name\":\"old\",\"roles\":[\"read\"],\"sha256\":\"" + HASH + "\"}");

    Tokens.add(file, "new", "read", Set.of());

    assertThat(Files.readAllLines(file)).hasSize(2);
  }

  @Test
  void addedAndRemovedTokensTakeEffectAtOnce() throws IOException {
    String first = Tokens.add(file, "first", "read", Set.of());
    Tokens tokens = Tokens.open(file);

    String second = Tokens.add(file, "second", "read", Set.of());
    assertThat(tokens.caller(second)).isNotNull();

    List<String> lines = Files.readAllLines(file);
    write(lines.get(1) + "\n");
    assertThat(tokens.caller(first)).isNull();
    assertThat(tokens.caller(second)).isNotNull();

    write("");
    assertThat(tokens.caller(second)).isNull();
  }

  @Test
  void aMalformedLineRevokesOnlyItsToken() throws IOException {
    String first = Tokens.add(file, "first", "read", Set.of());
    String second = Tokens.add(file, "second", "read", Set.of());
    String third = Tokens.add(file, "third", "read", Set.of());
    List<String> lines = Files.readAllLines(file);
    Tokens tokens = Tokens.open(file);

    write(lines.get(0) + "\n" + lines.get(1).replace("}", "") + "\n" + lines.get(0) + "\n");

    assertThat(tokens.caller(first)).isNotNull();
    assertThat(tokens.caller(second)).as("of the malformed line").isNull();
    assertThat(tokens.caller(third)).as("of the deleted line").isNull();
    assertThat(tokens.isReadable()).isTrue();
  }

  @Test
  void aLineThatIsNotUtf8RevokesOnlyItsToken() throws IOException {
    String first = Tokens.add(file, "first", "read", Set.of());
    String second = Tokens.add(file, "second", "read", Set.of("caf\u00e9"));
    String third = Tokens.add(file, "third", "read", Set.of());
    List<String> lines = Files.readAllLines(file);
    Tokens tokens = Tokens.open(file);

    Files.writeString(file, lines.get(1) + "\n" + lines.get(0) + "\n", ISO_8859_1);

    assertThat(tokens.caller(first)).isNotNull();
    assertThat(tokens.caller(second)).as("of the malformed line").isNull();
    assertThat(tokens.caller(third)).as("of the deleted line").isNull();
    assertThat(tokens.isReadable()).isTrue();
    assertThatThrownBy(() -> Tokens.open(file)).hasMessageContaining("line 1: malformed");
  }

  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  @ParameterizedTest
  @ValueSource(strings = {"removed", "readable by others", "a pipe", "a directory"})
  void theTokensOfAFileThatCannotBeReadAreValidForTheGrace(String fault) throws Exception {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    String token = Tokens.add(file, "ops", "admin", Set.of());
    String lines = Files.readString(file);
    Tokens tokens = Tokens.open(file, Duration.ofMinutes(5), now::get);
    assertThat(tokens.isReadable()).isTrue();

    switch (fault) {
      case "removed" -> Files.delete(file);
      case "a pipe" -> {
        Files.delete(file);
        String[] make = {"mkfifo", "-m", "600", file.toString()};
        assertThat(new ProcessBuilder(make).start().waitFor()).isZero();
      }
      case "a directory" -> {
        Files.delete(file);
        Files.createDirectory(file, OWNER);
      }
      default -> Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    }

    assertThat(tokens.isReadable()).isFalse();
    now.set(now.get().plus(Duration.ofMinutes(5)).minusMillis(1));
    assertThat(tokens.caller(token)).isNotNull();
    now.set(now.get().plusMillis(1));
    assertThat(tokens.caller(token)).isNull();
    assertThat(tokens.isReadable()).isFalse();

    Files.deleteIfExists(file);
    write(lines);
    assertThat(tokens.caller(token)).isNotNull();
    assertThat(tokens.isReadable()).isTrue();
  }

  @Test
  void aTokenExpires() throws IOException {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    Tokens.NewToken wanted =
        new Tokens.NewToken("ops", Set.of("read"), Set.of(), Duration.ofDays(90), Quota.NONE);
    String token = Tokens.add(file, wanted, now::get);
    Tokens tokens = Tokens.open(file, Tokens.GRACE, now::get);

    now.set(Instant.parse("2026-03-31T23:59:59Z"));
    assertThat(tokens.caller(token)).isNotNull();
    assertThat(new Authenticator(tokens).authenticate(List.of("Bearer " + token)).orThrow())
        .isEqualTo(tokens.caller(token));
    now.set(Instant.parse("2026-04-01T00:00:00Z"));
    assertThat(tokens.caller(token)).isNull();
    assertThatThrownBy(
            () -> new Authenticator(tokens).authenticate(List.of("Bearer " + token)).orThrow())
        .hasMessage("the token expired at 2026-04-01T00:00:00Z");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-rw----", "rw----r--", "rw-----w-", "rw-r--r--"})
  void aFileThatOtherUsersCanReadOrChangeIsRefused(String permissions) throws IOException {
    Tokens.add(file, "ops", "admin", Set.of());
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));

    assertThatThrownBy(() -> Tokens.open(file)).hasMessageContaining("chmod 600");
    assertThatThrownBy(() -> Tokens.add(file, "more", "admin", Set.of()))
        .hasMessageContaining("chmod 600");
  }

  @Test
  void theGroupMayRead() throws IOException {
    Tokens.add(file, "ops", "admin", Set.of());
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

    assertThat(Tokens.open(file)).isNotNull();
  }

  @Test
  void anEmptyFileIsRefusedAtTheStart() throws IOException {
    write("\n");

    assertThatThrownBy(() -> Tokens.open(file)).hasMessageContaining("no tokens");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ops",
        "{}",
        "{\"name\":\"ops\",\"roles\":[\"root\"],\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"open\"],\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"role\":\"read\",\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":\"read\",\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[],\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[null],\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"expires\":\"soon\",\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"quota\":{\"claims\":0},\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"quota\":{\"x\":1},\"sha256\":\"{hash}\"}",
        "{\"name\":\"o\\nps\",\"roles\":[\"read\"],\"sha256\":\"{hash}\"}",
        "{\"name\":\"\",\"roles\":[\"read\"],\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"sha256\":\"abc\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"token\":\"abc\",\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"namespaces\":[],\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"namespaces\":[\"..\"],\"sha256\":\"{hash}\"}",
        "{\"name\":\"ops\",\"roles\":[\"read\"],\"namespaces\":\"shop\",\"sha256\":\"{hash}\"}"
      })
  void aWrongLineIsRefusedByItsNumber(String line) throws IOException {
    write("\n" + line.replace("{hash}", HASH) + "\n");

    assertThatThrownBy(() -> Tokens.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "RAW",
        "\"RAW\"",
        "name RAW",
        "RAW{}",
        "{RAW}",
        "{\"RAW\"}",
        "{\"RAW\":1}",
        "{\"quota\":{\"RAW\":1}}",
        "{\"name\":RAW}",
        "{\"name\":\"RAW RAW\"}",
        "{\"name\":[\"RAW\"]}",
        "{\"name\":\"RAW",
        "{\"name\":\"a\",\"roles\":[\"read\"],\"sha256\":\"RAW\"}",
        "{\"name\":\"a\",\"roles\":[\"RAW\"],\"sha256\":\"{hash}\"}",
        "{\"name\":\"a\",\"roles\":[\"read\"],\"expires\":\"RAW\",\"sha256\":\"{hash}\"}",
        "{\"name\":\"a\",\"roles\":[\"read\"],\"namespaces\":[\"RAW\\n\"],\"sha256\":\"{hash}\"}",
        "{\"name\":\"a\",\"roles\":[\"read\"],\"quota\":{\"claims\":\"RAW\"},\"sha256\":\"{hash}\"}",
        "{\"name\":\"RAW\",\"roles\":[\"read\"],\"sha256\":\"{hash}\"}\n"
            + "{\"name\":\"RAW\",\"roles\":[\"read\"],\"sha256\":\"{hash}\"}"
      })
  void noErrorContainsAnyPartOfTheFile(String content) throws IOException {
    String malformed = content.replace("RAW", RAW).replace("{hash}", HASH);
    Tokens.add(file, "ops", "admin", Set.of());
    String valid = Files.readString(file);
    Tokens tokens = Tokens.open(file);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger("io.timewheel.server");
    logger.addAppender(log);
    try {
      write(valid + malformed + "\n");
      assertThat(tokens.caller(RAW)).isNull();
    } finally {
      logger.detachAppender(log);
    }

    String error = file + ", line " + (1 + malformed.lines().count()) + ": ";
    assertThat(log.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .noneMatch(line -> line.contains("Zm9y"))
        .anyMatch(line -> line.contains(error));
    assertThatThrownBy(() -> Tokens.open(file))
        .hasMessageStartingWith(error)
        .hasMessageNotContaining("Zm9y")
        .hasNoCause();
    assertThatThrownBy(() -> Tokens.add(file, "more", "admin", Set.of()))
        .hasMessageStartingWith(error)
        .hasMessageNotContaining("Zm9y");
  }
}
