// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.server.TlsFixture;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests certificates and keys in the formats of openssl. */
class PemFileTest {
  @TempDir private Path directory;
  private TlsFixture fixture;

  @BeforeEach
  void make() {
    fixture = new TlsFixture(directory);
  }

  private TlsFiles files(String certificate, String key) throws IOException {
    return new TlsFiles(fixture.file(certificate), fixture.file(key));
  }

  @ParameterizedTest
  @CsvSource({
    "rsa.crt, rsa.key, RSA",
    "rsa.crt, rsa-pkcs1.key, RSA",
    "ec.crt, ec.key, EC",
    "ec.crt, ec-sec1.key, EC",
    "ed25519.crt, ed25519.key, EdDSA"
  })
  void readsEachFormOfKey(String certificate, String key, String kind) throws Exception {
    KeyStore store = files(certificate, key).read();

    assertThat(store.getKey("timewheel", TlsFiles.PASSWORD.toCharArray()).getAlgorithm())
        .isEqualTo(kind);
    assertThat(store.getCertificateChain("timewheel")).hasSize(2);
  }

  @Test
  void readsCertificateAndKeyFromOneFileWithNotesInIt() throws Exception {
    Path both = directory.resolve("both");
    Files.writeString(
        both,
        "Bag Attributes\n  friendlyName: x\n"
            + Files.readString(fixture.file("ec.key"))
            + "subject=CN = timers.example\n"
            + Files.readString(fixture.file("ec.crt")).replace("\n", "\r\n"));
    Files.setPosixFilePermissions(both, PosixFilePermissions.fromString("rw-------"));

    assertThat(new TlsFiles(both, both).read().size()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"encrypted.key", "encrypted-pkcs1.key"})
  void refusesAnEncryptedKeyAndNamesTheRemedy(String key) {
    assertThatThrownBy(() -> files("rsa.crt", key).read())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(key + ": the private key is encrypted")
        .hasMessageContaining("openssl pkey");
  }

  @ParameterizedTest
  @CsvSource({
    "rsa.crt, ec.key",
    "rsa.crt, ec-sec1.key",
    "ec.crt, rsa.key",
    "ec.crt, rsa-pkcs1.key",
    "ec.crt, ed25519.key"
  })
  void refusesTheKeyOfAnotherCertificate(String certificate, String key) {
    assertThatThrownBy(() -> files(certificate, key).read())
        .isInstanceOf(FileSystemException.class)
        .hasMessage(
            directory.resolve(key) + ": the private key does not belong to the certificate");
  }

  private TlsFiles written(String certificate, String key) throws IOException {
    Path crt = Files.writeString(directory.resolve("a.crt"), certificate);
    Path file = Files.writeString(directory.resolve("a.key"), key);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return new TlsFiles(crt, file);
  }

  @Test
  void refusesDamagedFilesByName() throws IOException {
    String crt = Files.readString(fixture.file("rsa.crt"));
    String key = Files.readString(fixture.file("rsa.key"));

    assertThatThrownBy(() -> written("", key).read()).hasMessageContaining("has no certificate");
    assertThatThrownBy(() -> written(crt.replace("MII", "AAA"), key).read())
        .hasMessageContaining("a.crt: has a damaged certificate");
    assertThatThrownBy(() -> written(crt, "").read())
        .hasMessageContaining("a.key: has no private key");
    assertThatThrownBy(() -> written(crt, crt).read())
        .hasMessageContaining("a.key: has no private key");
    assertThatThrownBy(() -> written(crt, key.replace("MII", "AAA")).read())
        .hasMessageContaining("a.key: the private key is damaged");
    assertThatThrownBy(() -> written(crt, key.replace("PRIVATE", "OPENSSH PRIVATE")).read())
        .hasMessageContaining("OPENSSH PRIVATE KEY");
    assertThatThrownBy(() -> new TlsFiles(directory.resolve("no"), directory.resolve("x")).read())
        .hasMessageContaining("no: there is no such file");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "LINE",
        "{\"key\":\"LINE\"}",
        "-----BEGIN PRIVATE KEY-----\nLINE",
        "-----BEGIN PRIVATE KEY-----\nLINE\n-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nLINE\n-----END CERTIFICATE-----"
      })
  void noErrorContainsAnyPartOfAKey(String content) throws IOException {
    String crt = Files.readString(fixture.file("rsa.crt"));
    String key = Files.readString(fixture.file("rsa.key"));
    String line = key.lines().toList().get(1);
    String malformed = content.replace("LINE", line);

    assertThatThrownBy(() -> written(crt, malformed).read())
        .hasMessageStartingWith(directory.resolve("a.key") + ": ")
        .hasMessageNotContaining(line.substring(0, 8));
    assertThatThrownBy(() -> written(malformed, key).read())
        .hasMessageStartingWith(directory.resolve("a.crt") + ": ")
        .hasMessageNotContaining(line.substring(0, 8));
  }

  @Test
  void refusesCertificatesThatAreNoChain() throws IOException {
    String rsa = Files.readString(fixture.file("rsa.crt"));
    String ec = Files.readString(fixture.file("ec.crt"));
    String key = Files.readString(fixture.file("rsa.key"));

    assertThatThrownBy(() -> written(rsa + ec, key).read()).hasMessageContaining("are not a chain");
  }

  @Test
  void refusesAKeyThatOthersMayRead() throws IOException {
    TlsFiles files = files("rsa.crt", "rsa.key");
    Files.setPosixFilePermissions(files.key(), PosixFilePermissions.fromString("rw-r--r--"));

    assertThatThrownBy(files::read).hasMessageContaining("chmod 600");
  }
}
