// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.RequestId;
import io.timewheel.server.problem.Names;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The {@code Idempotency-Key} of a request, in the form that the store keeps. A key is valid for
 * one operation on one timer, or for one batch. The store keeps its hash, together with a hash of
 * the content.
 */
public final class IdempotencyKey {
  /** A collision of two keys would need 2^64 requests for one timer within a day. */
  private static final int HASH_BYTES = 16;

  private final String operation;
  private final String key;

  private IdempotencyKey(String operation, String key) {
    this.operation = operation;
    this.key = key;
  }

  /** {@return the key of a request; null if it has none} */
  public static @Nullable IdempotencyKey of(ApiRequest request) {
    String key = request.header("Idempotency-Key");
    if (key == null) {
      return null;
    }
    return new IdempotencyKey(
        requireNonNull(request.route()).operation(), Names.checked("Idempotency-Key", key));
  }

  /**
   * Returns the request ID by which the store recognises a repeated request.
   *
   * @return null if the request has no key
   */
  public static @Nullable RequestId requestOf(@Nullable IdempotencyKey key, String content) {
    return key == null ? null : key.request(content);
  }

  /** {@return the request ID by which the store recognises a repeated request with this content} */
  public RequestId request(String content) {
    return new RequestId(hash(operation + "\n" + key), hash(content));
  }

  /** {@return the key of one of several operations of the request} */
  public IdempotencyKey part(String name) {
    return new IdempotencyKey(operation + " " + name, key);
  }

  private static String hash(String text) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(Arrays.copyOf(hash, HASH_BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // every JDK supports it
    }
  }
}
