// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Authenticator;
import io.timewheel.server.security.Authorization;
import io.timewheel.server.security.Caller;
import io.timewheel.server.security.Quotas;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request, and the way to answer it: once, and from any thread. */
public final class Exchange {
  static final String REQUEST_ID = "X-Request-Id";

  private static final Pattern GIVEN_ID = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  /** Answers up to this size are not refused for lack of memory. */
  private static final int SMALL_BYTES = 4 * 1024;

  private final Shared shared;
  private final String clientAddress;
  private final long beganNanos = System.nanoTime();
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final AtomicBoolean answered = new AtomicBoolean();
  private Map<String, String> variables = Map.of();
  private @Nullable Route route;
  private Caller caller = Caller.NOBODY;
  private final String id;
  private final Map<String, Object> notes = new ConcurrentHashMap<>();
  private volatile boolean uneventful;
  private ByteBudget.@Nullable Reservation body;
  private volatile Scheduler.@Nullable Task deadline;
  private volatile long etag;

  /**
   * The parts of a server that all its requests share.
   *
   * @param authenticator knows the callers
   * @param bodies the memory of bodies
   * @param maxBodyTime how long a client may take to send a body
   * @param answers the memory of answers
   * @param maxStall how long a client may take no part of an answer
   * @param queues for work that may block
   * @param storeTimeout the time within which the store must answer
   * @param auditLog the audit log
   * @param metrics the time of requests
   * @param quotas the quotas of tokens and namespaces
   */
  record Shared(
      Authenticator authenticator,
      ByteBudget bodies,
      Duration maxBodyTime,
      ByteBudget answers,
      Duration maxStall,
      Map<Work, WorkQueue> queues,
      Duration storeTimeout,
      AuditLog auditLog,
      RequestMetrics metrics,
      Quotas quotas) {}

  Exchange(
      Shared shared, String clientAddress, Request request, Response response, Callback callback) {
    this.shared = shared;
    this.clientAddress = clientAddress;
    this.request = request;
    this.response = response;
    this.callback = callback;
    String given = request.getHeaders().get(REQUEST_ID);
    this.id =
        given != null && GIVEN_ID.matcher(given).matches()
            ? given
            : Long.toHexString(ThreadLocalRandom.current().nextLong());
  }

  // The request

  /** {@return the Authorization headers of a request} */
  static List<String> credentials(Request request) {
    return request.getHeaders().getValuesList(HttpHeader.AUTHORIZATION);
  }

  void route(Route found, Map<String, String> pathVariables) {
    route = found;
    variables = pathVariables;
  }

  void caller(Caller by) {
    caller = by;
  }

  /** {@return by what name the logs know this request: its client's, or one of our own} */
  String id() {
    return id;
  }

  @Nullable Route route() {
    return route;
  }

  /** {@return the quotas of tokens and namespaces} */
  public Quotas quotas() {
    return shared.quotas;
  }

  /** Counts a write of one timer, or refuses it. */
  void checkWrites() {
    String namespace = variables.containsKey("ns") ? namespace() : null;
    shared.quotas.write(caller, namespace, 1);
  }

  public Caller caller() {
    return caller;
  }

  /**
   * {@return whether the caller may still ask; for an answer that comes long after the question}
   */
  public boolean isStillAdmitted() {
    return shared.authenticator.authenticate(credentials(request)).isBy(caller);
  }

  public Request request() {
    return request;
  }

  public Response response() {
    return response;
  }

  /** {@return a variable of the path, decoded} */
  public String path(String name) {
    return PercentDecoder.decode(name, requireNonNull(variables.get(name), name));
  }

  /** {@return the namespace in the path, which the caller may use} */
  public String namespace() {
    return Names.checked("ns", path("ns"));
  }

  /** Refuses a caller who may not use the namespace in the path, if there is one. */
  void checkNamespace() {
    if (variables.containsKey("ns")) {
      Authorization.checkNamespace(caller, namespace());
    }
  }

  public @Nullable String header(HttpHeader name) {
    return request.getHeaders().get(name);
  }

  public @Nullable String header(String name) {
    return request.getHeaders().get(name);
  }

  /** {@return the parameters of the query; one that is not among these is refused} */
  public Query query(String... names) {
    return Query.of(request.getHttpURI().getQuery(), names);
  }

  /**
   * Reads the body and goes on with it; with an empty text if there is none.
   *
   * @param maxBytes how large it may be
   * @param then goes on; what it throws is answered
   */
  public void body(int maxBytes, Consumer<String> then) {
    body(maxBytes, Json.MEDIA_TYPE, then);
  }

  /**
   * Reads the body and goes on with it; with an empty text if there is none.
   *
   * @param maxBytes how large it may be
   * @param type its media type
   * @param then goes on; what it throws is answered
   */
  public void body(int maxBytes, String type, Consumer<String> then) {
    long length = request.getHeaders().getLongField(HttpHeader.CONTENT_LENGTH);
    if (length <= 0 && !request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING)) {
      work(() -> then.accept(""));
      return;
    }
    BodyReader.checkMediaType(request, type);
    if (length > maxBytes) {
      throw Problem.tooLarge("the body", maxBytes).failure();
    }
    stopDeadline(); // the client has a time of its own to send the body
    body = shared.bodies.of(caller);
    on(
        BodyReader.read(request, maxBytes, shared.maxBodyTime, body),
        content -> {
          expectAnswer(Duration.ZERO);
          work(() -> then.accept(Json.decode(content)));
        });
  }

  /** Does a step that may block, when it is its turn; what it throws is answered. */
  void work(Runnable step) {
    WorkQueue queue = shared.queues.get(requireNonNull(route, "route").work());
    if (queue == null) {
      run(step);
    } else {
      queue.run(this, step);
    }
  }

  /** {@return whether it was answered, be it with a problem} */
  public boolean isAnswered() {
    return answered.get();
  }

  // The deadline

  /**
   * Starts the time for the answer: the store timeout, and more for a request that may wait longer.
   * If it ends, the answer is 503, though the store may still be at work on the request.
   *
   * @param more the time besides the store timeout
   */
  public void expectAnswer(Duration more) {
    stopDeadline();
    deadline =
        request
            .getConnectionMetaData()
            .getConnector()
            .getScheduler()
            .schedule(
                this::overdue, shared.storeTimeout.plus(more).toMillis(), TimeUnit.MILLISECONDS);
    if (answered.get()) {
      stopDeadline();
    }
  }

  /** Lets the answer take any time, as that of a request whose work is long. */
  public void stopDeadline() {
    Scheduler.Task task = deadline;
    if (task != null) {
      task.cancel();
    }
  }

  private void overdue() {
    String method = request.getMethod();
    boolean reads = method.equals("GET") || method.equals("HEAD");
    Problem overdue =
        reads
            ? Problem.storeTimeout(shared.storeTimeout)
            : Problem.unknownOutcome(shared.storeTimeout);
    // The thread that would read the next request of the connection may wait for the store.
    problem(overdue.header("Connection", "close"));
  }

  // For the audit log

  /** {@return the names in the path that can be read} */
  Map<String, String> names() {
    Map<String, String> names = new TreeMap<>();
    variables.forEach(
        (name, text) -> {
          try {
            names.put(name.equals("ns") ? "namespace" : name, PercentDecoder.decode(name, text));
          } catch (Problem.Failure e) {
            // the path shows it as it came
          }
        });
    return names;
  }

  /** Adds to the audit log what the path does not say. */
  public void note(String name, @Nullable Object value) {
    if (value != null) {
      notes.put(name, value);
    }
  }

  /** Nothing was changed, and the audit log need not know. */
  public void uneventful() {
    uneventful = true;
  }

  private void audit(int status) {
    if (route == null || !route.isChange() || uneventful) {
      return;
    }
    shared.auditLog.write(
        new AuditLog.Entry(
            caller.name(),
            clientAddress,
            id,
            route.method() + " " + route.pattern(),
            String.valueOf(request.getHttpURI().getPath()),
            names(),
            notes,
            status));
  }

  // The answer

  /** Goes on with a result; whatever goes wrong is answered. */
  public <T> void on(CompletionStage<T> stage, Consumer<T> then) {
    var unused =
        stage.whenComplete(
            (result, error) -> {
              if (error == null) {
                run(() -> then.accept(result));
              } else {
                Throwable cause = error.getCause();
                problem(
                    Problem.of(
                        error instanceof CompletionException && cause != null ? cause : error));
              }
            });
  }

  /** Answers what a step throws. */
  public void run(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      problem(Problem.of(e));
    }
  }

  /** {@return the problem of an item of a batch; the log gets its cause if it was not expected} */
  public Problem logged(@Nullable String item, Problem problem) {
    if (problem.cause() != null) {
      LOG.error(
          "{} {} failed for {}, request {} from {}",
          request.getMethod(),
          request.getHttpURI().getPath(),
          Json.text(String.valueOf(item)), // without line breaks
          id,
          clientAddress,
          problem.cause());
    }
    return problem;
  }

  public void problem(Problem problem) {
    if (problem.cause() != null) {
      LOG.error(
          "{} {} failed, request {} from {}",
          request.getMethod(),
          request.getHttpURI().getPath(),
          id,
          clientAddress,
          problem.cause());
    }
    BodyReader.discard(
        request,
        shared.maxBodyTime,
        () ->
            send(
                problem.status(),
                Problem.MEDIA_TYPE,
                AnswerWriter.parts(Json.bytes(problem.details())),
                problem.headers(),
                Callback.NOOP));
  }

  /** Answers with another path on this server. */
  void redirect(String path) {
    response.getHeaders().put(HttpHeader.LOCATION, path);
    send(308, "text/plain", new byte[0]);
  }

  /** Answers with a record as JSON. */
  public void json(int status, Record content) {
    send(status, Json.MEDIA_TYPE, Json.bytes(content));
  }

  public void send(int status, String type, byte[] content) {
    send(status, type, AnswerWriter.parts(content), Callback.NOOP);
  }

  /**
   * Answers, unless there is no memory for the answer.
   *
   * @param content in parts of at most 64 KB
   * @param written told whether the whole answer went out
   */
  public void send(int status, String type, List<ByteBuffer> content, Callback written) {
    send(status, type, content, Map.of(), written);
  }

  private void send(
      int status,
      String type,
      List<ByteBuffer> content,
      Map<String, String> headers,
      Callback written) {
    long length = content.stream().mapToLong(ByteBuffer::remaining).sum();
    ByteBudget.Reservation reserved = shared.answers.of(caller);
    if (length > SMALL_BYTES && !reserved.reserve(length)) {
      written.failed(new EofException("there is no memory for the answer"));
      problem(
          Problem.busy(
              "too many bytes of answers wait for their clients (limit: %d); a change is done"
                  .formatted(shared.answers.maxBytes())));
    } else if (!begin(status)) {
      reserved.release();
      written.failed(new EofException("answered already"));
    } else {
      headers.forEach(response.getHeaders()::put);
      if (etag != 0 && status < 300) {
        response.getHeaders().put(HttpHeader.ETAG, "\"" + etag + "\"");
      }
      response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
      response.getHeaders().put(HttpHeader.CONTENT_LENGTH, length);
      Callback both = Callback.combine(callback, written);
      new AnswerWriter(request, response, content, reserved, shared.maxStall, both).iterate();
    }
  }

  /** Writes a part of an answer that goes on for a while, if there is memory for it. */
  public void write(byte[] part, Callback written) {
    ByteBudget.Reservation reserved = shared.answers.of(caller);
    if (reserved.reserve(part.length)) {
      Callback end = Callback.from(reserved::release);
      response.write(false, ByteBuffer.wrap(part), Callback.combine(end, written));
    } else {
      written.failed(new EofException("there is no memory for more of the answer"));
    }
  }

  /** Begins an answer that goes on for a while. */
  public boolean begin(int status) {
    if (!answered.compareAndSet(false, true)) {
      return false;
    }
    stopDeadline();
    if (body != null) {
      body.release();
    }
    audit(status);
    shared.metrics.answered(route, status, System.nanoTime() - beganNanos);
    response.setStatus(status);
    return true;
  }

  public Callback callback() {
    return callback;
  }

  /** Adds the version of a timer to the answer, unless it is a problem. */
  public void etag(long version) {
    etag = version;
  }
}
