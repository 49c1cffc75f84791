// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A symmetric key that signs requests, {@code whsec_…} in Standard Webhooks. */
public final class WebhookSecret {
  private static final String PREFIX = "whsec_";
  private static final String ALGORITHM = "HmacSHA256";
  private static final int MIN_BYTES = 24;
  private static final int MAX_BYTES = 64;

  private final SecretKeySpec key;

  private WebhookSecret(byte[] bytes) {
    this.key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /**
   * Parses a secret. No error contains any part of it.
   *
   * @param text {@code whsec_} and 24 to 64 bytes in Base64
   * @throws IllegalArgumentException if the text is not a secret
   */
  public static WebhookSecret parse(String text) {
    byte[] bytes;
    try {
      bytes =
          Base64.getDecoder()
              .decode(text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : "");
    } catch (IllegalArgumentException e) {
      bytes = new byte[0];
    }
    if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "webhook secret (expected: whsec_ and 24 to 64 bytes in Base64; or header= and a value)");
    }
    return new WebhookSecret(bytes);
  }

  /** {@return {@code v1,} and the signature of a message in Base64} */
  public String sign(String id, long timestampSeconds, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update((id + "." + timestampSeconds + ".").getBytes(StandardCharsets.UTF_8));
      return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + " is in every JDK", e);
    }
  }

  /** {@return a text without the secret} */
  @Override
  public String toString() {
    return "WebhookSecret";
  }
}
