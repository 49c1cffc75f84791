// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.io.EOFException;
import java.io.IOException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.eclipse.jetty.client.HttpResponseException;
import org.jspecify.annotations.Nullable;

/** The part of a delivery that failed, and the error for users, without class names. */
enum DeliveryPhase {
  DNS("DNS", "no address"),
  CONNECT("connect", "no connection"),
  TLS("TLS", "no handshake"),
  SEND("send", "not sent"),
  ANSWER("wait for the answer", "no answer");

  private final String label;
  private final String late;

  DeliveryPhase(String label, String late) {
    this.label = label;
    this.late = late;
  }

  /** {@return the phase of a failure that identifies its phase, or another one} */
  static DeliveryPhase of(Throwable failure, DeliveryPhase other) {
    if (has(failure, UnknownHostException.class)) {
      return DNS;
    }
    return has(failure, SSLException.class) ? TLS : other;
  }

  /**
   * {@return whether a delivery that failed in this phase may have waited for the lookup of its
   * host} Any failure except a timeout has another cause, even if another delivery to the host
   * waits for a lookup.
   */
  boolean mayWaitForLookup(Throwable failure) {
    return this == CONNECT && failure instanceof TimeoutException;
  }

  /** {@return the error: host, phase and cause; a refused address has no phase} */
  String describe(String host, Throwable failure, Duration timeout) {
    RefusedAddressException refused = find(failure, RefusedAddressException.class);
    if (refused != null) {
      return host + ": " + refused.getMessage();
    }
    return host + ": " + label + ": " + cause(failure, timeout);
  }

  private String cause(Throwable failure, Duration timeout) {
    if (has(failure, UnknownHostException.class)) {
      return "no such host";
    }
    SocketException socket = find(failure, SocketException.class);
    if (this == TLS && !(failure instanceof TimeoutException)) {
      return tlsCause(failure);
    } else if (failure instanceof TimeoutException) {
      return late + " within " + timeout;
    } else if (failure instanceof SocketTimeoutException) {
      return late + " in time";
    } else if (has(failure, NoRouteToHostException.class)) {
      return "no route to the host";
    } else if (has(failure, HttpResponseException.class)) {
      return "it was not HTTP";
    } else if (failure.getClass() == IOException.class && failure.getCause() == null) {
      return socketCause(String.valueOf(failure.getMessage()));
    }
    return socketCause(
        socket != null
            ? String.valueOf(socket.getMessage())
            : has(failure, ClosedChannelException.class) || has(failure, EOFException.class)
                ? "closed"
                : "");
  }

  private static String socketCause(String message) {
    String lower = message.toLowerCase(Locale.ROOT);
    if (lower.contains("refused")) {
      return "connection refused";
    } else if (lower.contains("unreachable")) {
      return "the network is unreachable";
    } else if (lower.contains("reset") || lower.contains("broken pipe")) {
      return "the connection was reset";
    } else if (lower.contains("closed")) {
      return "the connection was closed";
    }
    return message.startsWith(WebhookClient.TOO_LARGE) ? message : "failed";
  }

  private static String tlsCause(Throwable failure) {
    if (has(failure, CertificateExpiredException.class)) {
      return "the certificate has expired";
    } else if (has(failure, CertificateNotYetValidException.class)) {
      return "the certificate is not valid yet";
    } else if (has(failure, CertPathBuilderException.class)
        || has(failure, CertPathValidatorException.class)) {
      return "the certificate is not trusted";
    } else if (has(failure, CertificateException.class)) {
      return "the certificate is not for this host";
    }
    for (Throwable each = failure; each != null; each = each.getCause()) {
      String message = String.valueOf(each.getMessage());
      if (message.startsWith("Received fatal alert: ")) {
        return message.replace("Received fatal alert: ", "the host sent the alert ");
      }
    }
    return "the handshake failed";
  }

  private static boolean has(Throwable failure, Class<? extends Throwable> type) {
    return find(failure, type) != null;
  }

  private static <T extends Throwable> @Nullable T find(Throwable failure, Class<T> type) {
    Throwable each = failure;
    for (int depth = 0; each != null && depth < 10; depth++) {
      if (type.isInstance(each)) {
        return type.cast(each);
      }
      each = each.getCause();
    }
    return null;
  }
}
