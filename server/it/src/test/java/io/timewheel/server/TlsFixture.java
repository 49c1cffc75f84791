// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.PemFile;
import io.timewheel.server.settings.TlsFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Certificates for {@code localhost}, {@code timers.example} and 127.0.0.1, all from one authority,
 * with their keys in the formats of openssl. They protect nothing.
 */
public final class TlsFixture {
  private final Path directory;

  public TlsFixture(Path directory) {
    this.directory = directory;
  }

  /** Copies a file, which only its owner may read. */
  public Path file(String name) throws IOException {
    return copy(name, name);
  }

  /** Copies a file under another name. The new content replaces the former one atomically. */
  Path copy(String name, String as) throws IOException {
    Path made = directory.resolve(as + ".new");
    try (InputStream in =
        requireNonNull(TlsFixture.class.getResourceAsStream("tls/" + name), name)) {
      Files.copy(in, made, StandardCopyOption.REPLACE_EXISTING);
    }
    Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rw-------"));
    return Files.move(
        made,
        directory.resolve(as),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  /** {@return a port with a certificate, which a later copy to server.crt and .key changes} */
  Ingress ingress(String basePath) throws IOException {
    return new Ingress(
        basePath,
        List.of(),
        new TlsFiles(copy("rsa.crt", "server.crt"), copy("rsa.key", "server.key")));
  }

  /** {@return a context that trusts the authority} */
  SSLContext trust() throws Exception {
    KeyStore authorities = KeyStore.getInstance("PKCS12");
    authorities.load(null, null);
    authorities.setCertificateEntry("ca", PemFile.certificates(file("ca.crt")).get(0));
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(authorities);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trusted.getTrustManagers(), null);
    return context;
  }
}
