// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * The files of a server's certificate and private key.
 *
 * @param certificate the file of the certificate, followed by the intermediate certificates
 * @param key the file of the private key
 */
public record TlsFiles(Path certificate, Path key) {
  /** The password of the key store in memory, which must have one. */
  public static final String PASSWORD = "in-memory";

  /**
   * Reads both files.
   *
   * @throws IOException if a file cannot be used, or the certificate and the key are not a pair
   */
  public KeyStore read() throws IOException {
    List<X509Certificate> chain = PemFile.certificates(certificate);
    PrivateKey privateKey = PemFile.privateKey(key, chain.get(0));
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry(
          "timewheel", privateKey, PASSWORD.toCharArray(), chain.toArray(Certificate[]::new));
      return store;
    } catch (GeneralSecurityException e) {
      throw new FileSystemException(
          certificate.toString(),
          null,
          "the certificates are not a chain (expected: the server's first, each signed by the"
              + " next)");
    }
  }
}
