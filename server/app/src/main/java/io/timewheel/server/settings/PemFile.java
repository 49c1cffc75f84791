// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and private keys in the PEM format (RFC 7468). */
public final class PemFile {
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \\1-----", Pattern.DOTALL);

  /** The kinds of keys, each with the signature that verifies that two keys are a pair. */
  private static final Map<String, String> SIGNATURES =
      Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

  private static final int SEQUENCE = 0x30;
  private static final int OCTET_STRING = 0x04;
  private static final byte[] VERSION = {0x02, 0x01, 0x00};

  private PemFile() {}

  private record Block(String label, String text) {
    byte[] content() {
      return Base64.getMimeDecoder().decode(text);
    }
  }

  /**
   * Reads the certificates of a file.
   *
   * @throws IOException if the file cannot be read, has no certificate, or has a damaged one
   */
  public static List<X509Certificate> certificates(Path file) throws IOException {
    List<X509Certificate> certificates = new ArrayList<>();
    for (Block block : blocks(text(file))) {
      if (block.label.equals("CERTIFICATE")) {
        try {
          certificates.add(
              (X509Certificate)
                  CertificateFactory.getInstance("X.509")
                      .generateCertificate(new ByteArrayInputStream(block.content())));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
          throw refused(file, "has a damaged certificate: " + e.getMessage());
        }
      }
    }
    if (certificates.isEmpty()) {
      throw refused(file, "has no certificate (expected: -----BEGIN CERTIFICATE-----)");
    }
    return certificates;
  }

  /** Reads a file without a check of its permissions, because a certificate is public. */
  private static String text(Path file) throws IOException {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw refused(file, "there is no such file");
    } catch (IOException e) {
      throw refused(file, "cannot be read: " + e);
    }
  }

  /**
   * Reads a private key: PKCS #8, PKCS #1 of RSA, or SEC 1 of EC.
   *
   * @param certificate the certificate that the key belongs to
   * @throws IOException if the file cannot be read, or the key is encrypted, damaged or of another
   *     certificate
   */
  public static PrivateKey privateKey(Path file, X509Certificate certificate) throws IOException {
    String text = new SecretFile(file).read();
    Block block =
        blocks(text).stream()
            .filter(each -> each.label.endsWith("PRIVATE KEY"))
            .findFirst()
            .orElseThrow(
                () -> refused(file, "has no private key (expected: -----BEGIN PRIVATE KEY-----)"));
    if (block.label.startsWith("ENCRYPTED") || block.text.contains("Proc-Type: 4,ENCRYPTED")) {
      throw refused(
          file,
          "the private key is encrypted (expected: one without a passphrase, as `openssl pkey -in"
              + " FILE -out FILE` writes it)");
    }
    PublicKey publicKey = certificate.getPublicKey();
    FileSystemException otherPair =
        refused(file, "the private key does not belong to the certificate");
    PrivateKey key;
    try {
      key =
          switch (block.label) {
            case "PRIVATE KEY" -> privateKey(block.content());
            case "RSA PRIVATE KEY", "EC PRIVATE KEY" -> {
              if (!block.label.startsWith(publicKey.getAlgorithm() + " ")) {
                throw otherPair;
              }
              yield privateKey(pkcs8(block.content(), publicKey));
            }
            default ->
                throw refused(
                    file,
                    "is of the kind %s (expected: PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY)"
                        .formatted(block.label));
          };
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw refused(file, "the private key is damaged, or neither RSA, EC nor EdDSA");
    }
    if (!isPair(key, publicKey)) {
      throw otherPair;
    }
    return key;
  }

  private static PrivateKey privateKey(byte[] pkcs8) throws GeneralSecurityException {
    GeneralSecurityException failure = new GeneralSecurityException("no such kind of key");
    for (String kind : SIGNATURES.keySet()) {
      try {
        return KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
      } catch (GeneralSecurityException e) {
        failure.addSuppressed(e);
      }
    }
    throw failure;
  }

  private static boolean isPair(PrivateKey key, PublicKey publicKey) {
    String algorithm = SIGNATURES.get(key.getAlgorithm());
    if (algorithm == null) {
      return false;
    }
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(VERSION);
      byte[] signed = signature.sign();
      signature.initVerify(publicKey);
      signature.update(VERSION);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static List<Block> blocks(String text) {
    List<Block> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(text);
    while (matcher.find()) {
      blocks.add(new Block(matcher.group(1), matcher.group(2)));
    }
    return blocks;
  }

  private static FileSystemException refused(Path file, String why) {
    return new FileSystemException(file.toString(), null, why);
  }

  // The older formats lack the algorithm, which the certificate's public key contains

  private static byte[] pkcs8(byte[] key, PublicKey publicKey) {
    return der(SEQUENCE, VERSION, algorithm(publicKey.getEncoded()), der(OCTET_STRING, key));
  }

  /** {@return the algorithm, which is the first part of an encoded public key} */
  private static byte[] algorithm(byte[] publicKey) {
    int start = contentStart(publicKey, 0);
    int content = contentStart(publicKey, start);
    int length = 0;
    for (int i = content - start > 2 ? start + 2 : start + 1; i < content; i++) {
      length = length << 8 | (publicKey[i] & 0xff);
    }
    return Arrays.copyOfRange(publicKey, start, content + length);
  }

  /** {@return the position after the tag and the length at a position} */
  private static int contentStart(byte[] der, int at) {
    int length = der[at + 1] & 0xff;
    return at + 2 + (length < 0x80 ? 0 : length & 0x7f);
  }

  private static byte[] der(int tag, byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    int lengthBytes = length < 0x80 ? 0 : length < 0x100 ? 1 : 2;
    byte[] der = new byte[2 + lengthBytes + length];
    der[0] = (byte) tag;
    der[1] = (byte) (lengthBytes == 0 ? length : 0x80 | lengthBytes);
    for (int i = 0; i < lengthBytes; i++) {
      der[2 + i] = (byte) (length >> (8 * (lengthBytes - 1 - i)));
    }
    int at = 2 + lengthBytes;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, der, at, part.length);
      at += part.length;
    }
    return der;
  }
}
