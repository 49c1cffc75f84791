// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static io.timewheel.server.webhook.DeliveryPhase.SEND;

import io.timewheel.api.HeaderValue;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.ProtocolHandlers;
import org.eclipse.jetty.client.ProxyAuthenticationProtocolHandler;
import org.eclipse.jetty.client.RedirectProtocolHandler;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.client.WWWAuthenticationProtocolHandler;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Posts signed messages to targets, without a thread for each. The client follows no redirect, uses
 * no proxy, stores no cookie and decodes nothing. It connects only to addresses that the {@link
 * AddressPolicy} admits. {@link DeliverySlots} limits the number of concurrent messages.
 */
public final class WebhookClient implements AutoCloseable {
  private static final int KEPT_BYTES = 1_024;
  private static final long MAX_BODY_BYTES = 1_024 * 1_024;

  /**
   * The limit of the headers of a request: 8 KB of timer headers, each with a prefix and
   * URL-encoded.
   */
  private static final int MAX_REQUEST_HEADERS = 128 * 1_024;

  private static final int MAX_RESPONSE_HEADERS = 16 * 1_024;
  private static final int THREADS = 8;

  /** Replaces a secret in an answer. */
  private static final String HIDDEN = "***";

  private static final Pattern BLANKS = Pattern.compile(" +");
  private static final Pattern SEPARATORS = Pattern.compile("[\\s=;,:\"]+");

  /** The least length of a word that is hidden. */
  private static final int MIN_HIDDEN = 4;

  /** The beginning of the error for an answer with too many bytes. */
  static final String TOO_LARGE = "the answer has more than ";

  private static final Logger LOG = LoggerFactory.getLogger(WebhookClient.class);

  private final SecretSource secrets;
  private final InstantSource clock;
  private final Lookups lookups = new Lookups();
  private final CheckedResolver resolver;
  private final HttpClient client;

  private WebhookClient(
      AddressPolicy policy,
      SecretSource secrets,
      InstantSource clock,
      CheckedResolver.NameService names) {
    this.secrets = secrets;
    this.clock = clock;
    this.resolver = new CheckedResolver(policy, lookups, names);
    this.client = new HttpClient(new HttpClientTransportOverHTTP(1));
    QueuedThreadPool threads = new QueuedThreadPool(THREADS);
    threads.setName("timewheel-webhook");
    threads.setDaemon(true);
    client.setExecutor(threads);
    client.setSocketAddressResolver(resolver);
    client.setFollowRedirects(false);
    client.setHttpCookieStore(new HttpCookieStore.Empty());
    client.setMaxConnectionsPerDestination(DeliverySlots.MAX_PER_HOST);
    client.setMaxRequestHeadersSize(MAX_REQUEST_HEADERS);
    client.setMaxResponseHeadersSize(MAX_RESPONSE_HEADERS);
    client.setUserAgentField(new HttpField(HttpHeader.USER_AGENT, "Timewheel"));
    client.setDestinationIdleTimeout(TimeUnit.MINUTES.toMillis(1));
    client.setIdleTimeout(TimeUnit.MINUTES.toMillis(1));
  }

  /** Starts a client, which connects only to addresses that the policy admits. */
  public static WebhookClient start(
      AddressPolicy policy, SecretSource secrets, InstantSource clock) {
    return start(policy, secrets, clock, InetAddress::getAllByName);
  }

  static WebhookClient start(
      AddressPolicy policy,
      SecretSource secrets,
      InstantSource clock,
      CheckedResolver.NameService names) {
    WebhookClient webhooks = new WebhookClient(policy, secrets, clock, names);
    try {
      webhooks.client.start();
      // The start of the client sets these.
      webhooks.client.getContentDecoderFactories().clear();
      ProtocolHandlers handlers = webhooks.client.getProtocolHandlers();
      handlers.remove(RedirectProtocolHandler.NAME);
      handlers.remove(WWWAuthenticationProtocolHandler.NAME);
      handlers.remove(ProxyAuthenticationProtocolHandler.NAME);
    } catch (Exception e) {
      webhooks.close();
      throw new IllegalStateException("the webhook client did not start", e);
    }
    return webhooks;
  }

  /**
   * Posts a message.
   *
   * @return the answer. Without an answer, it fails with an {@link IOException} that names the
   *     host, the phase and the cause. It fails with a {@link NoSlotException} if the request did
   *     not start
   */
  public CompletableFuture<WebhookAnswer> post(WebhookTarget target, WebhookMessage message) {
    List<WebhookSecret> keys;
    List<String> hidden = new ArrayList<>();
    Map<String, String> headers = new LinkedHashMap<>();
    try {
      keys = find(target.secret(), target, message).keys();
      for (Map.Entry<String, HeaderValue> header : target.headers().entrySet()) {
        String text = header.getValue().text();
        String name = header.getValue().secret();
        if (name == null) {
          headers.put(header.getKey(), String.valueOf(text));
        } else {
          String value = find(name, target, message).headerValue();
          headers.put(header.getKey(), value);
          hidden.add(value);
        }
      }
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    if (keys.isEmpty()) {
      return CompletableFuture.failedFuture(
          new IOException("the secret " + target.secret() + " cannot sign requests"));
    }
    long timestampSeconds = clock.instant().getEpochSecond();
    String signature =
        keys.stream()
            .map(key -> key.sign(message.id(), timestampSeconds, message.body()))
            .collect(Collectors.joining(" "));
    Exchange exchange = new Exchange(target, message, hidden);
    try {
      Request request =
          client
              .newRequest(target.url())
              .method(HttpMethod.POST)
              .tag(message.namespace())
              .timeout(target.timeout().toMillis(), TimeUnit.MILLISECONDS)
              .body(new BytesRequestContent("application/json", message.body()));
      request.headers(
          fields -> {
            headers.forEach(fields::put);
            message.headers().forEach(fields::add); // names of user headers may differ only in case
            fields.put("webhook-id", message.id());
            fields.put("webhook-timestamp", Long.toString(timestampSeconds));
            fields.put("webhook-signature", signature);
          });
      request
          .onRequestBegin(begun -> exchange.phase = exchange.isTls ? DeliveryPhase.TLS : SEND)
          .onRequestCommit(committed -> exchange.phase = SEND)
          .onRequestSuccess(sent -> exchange.phase = DeliveryPhase.ANSWER)
          .onResponseContent(exchange::content)
          .send(exchange::complete);
    } catch (RuntimeException e) {
      exchange.fail(e);
    }
    return exchange.answer;
  }

  private ConfiguredSecret find(String name, WebhookTarget target, WebhookMessage message)
      throws IOException {
    ConfiguredSecret secret = secrets.find(name);
    if (secret == null) {
      throw new IOException("no secret has the name " + name);
    }
    if (!secret.admits(message.namespace(), target.origin())) {
      throw new IOException(
          "the secret " + name + " is not for this namespace, scheme, host and port");
    }
    return secret;
  }

  /** Ends the requests in progress, which fail. */
  @Override
  public void close() {
    try {
      client.stop();
    } catch (Exception e) {
      throw new IllegalStateException("the webhook client did not stop", e);
    } finally {
      lookups.close();
    }
  }

  /** One request, on the threads of the client. */
  private final class Exchange {
    private final CompletableFuture<WebhookAnswer> answer = new CompletableFuture<>();
    private final WebhookTarget target;
    private final String namespace;
    private final List<String> hidden;
    private final boolean isTls;
    private final ByteBuffer kept = ByteBuffer.allocate(KEPT_BYTES);
    private long bodyBytes;
    private volatile DeliveryPhase phase = DeliveryPhase.CONNECT;

    Exchange(WebhookTarget target, WebhookMessage message, List<String> hidden) {
      this.target = target;
      this.hidden = hidden;
      this.namespace = message.namespace();
      this.isTls = "https".equalsIgnoreCase(target.url().getScheme());
    }

    /**
     * Reads and discards the rest of an answer, up to a limit, so that the connection can be
     * reused.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // the completion of the call reports the failure
    void content(Response response, ByteBuffer content) {
      bodyBytes += content.remaining();
      int part = Math.min(kept.remaining(), content.remaining());
      kept.put(content.slice(content.position(), part));
      content.position(content.limit());
      if (bodyBytes > MAX_BODY_BYTES) {
        response.abort(new IOException(TOO_LARGE + MAX_BODY_BYTES + " bytes"));
      }
    }

    void complete(Result result) {
      Throwable failure = result.getFailure();
      Response response = result.getResponse();
      // A target may answer and close the connection before it has read the whole request. Its
      // answer counts.
      if (failure != null && result.getResponseFailure() != null) {
        fail(failure);
        return;
      }
      String text =
          hide(
              hidden,
              new String(kept.array(), 0, kept.position(), StandardCharsets.UTF_8),
              bodyBytes > KEPT_BYTES);
      String retryAfter = response.getHeaders().get(HttpHeader.RETRY_AFTER);
      answer.complete(
          WebhookAnswer.of(response.getStatus(), retryAfter, printable(text), clock.instant()));
    }

    private void fail(Throwable failure) {
      LOG.debug("a request to {} failed", target.host(), failure);
      Boolean lookup =
          phase.mayWaitForLookup(failure)
              ? resolver.hasBegun(namespace, target.url().getHost())
              : null;
      if (failure instanceof NoSlotException || Boolean.FALSE.equals(lookup)) {
        answer.completeExceptionally(new NoSlotException());
        return;
      }
      DeliveryPhase failed = DeliveryPhase.of(failure, lookup == null ? phase : DeliveryPhase.DNS);
      answer.completeExceptionally(
          new IOException(failed.describe(target.host(), failure, target.timeout()), failure));
    }
  }

  /**
   * {@return an answer without the header values that its target shows} Hides the words of a value
   * too, because a target may show a token without its scheme, such as {@code Bearer}, or one
   * cookie of several.
   *
   * @param isCut whether the text may end with a part of a word
   */
  static String hide(List<String> values, String text, boolean isCut) {
    BitSet hidden = new BitSet();
    for (String secret : withWords(values)) {
      int length = secret.length();
      for (int at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
        hidden.set(at, at + length);
      }
      for (int part = Math.min(length, text.length()); isCut && part > 0; part--) {
        if (text.startsWith(secret.substring(0, part), text.length() - part)) {
          hidden.set(text.length() - part, text.length());
          break;
        }
      }
    }
    StringBuilder shown = new StringBuilder();
    int end;
    for (int at = 0; at < text.length(); at = end) {
      boolean isHidden = hidden.get(at);
      int change = isHidden ? hidden.nextClearBit(at) : hidden.nextSetBit(at);
      end = change < 0 ? text.length() : change;
      shown.append(isHidden ? HIDDEN : text.substring(at, end));
    }
    return shown.toString();
  }

  private static Set<String> withWords(List<String> values) {
    Set<String> secrets = new HashSet<>(values);
    for (String value : values) {
      for (Pattern separators : List.of(BLANKS, SEPARATORS)) {
        separators
            .splitAsStream(value)
            .filter(word -> word.length() >= MIN_HIDDEN)
            .forEach(secrets::add);
      }
    }
    secrets.remove("");
    return secrets;
  }

  private static String printable(String text) {
    return text.codePoints()
        .map(c -> Character.isISOControl(c) ? ' ' : c)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
