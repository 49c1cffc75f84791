// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.json.Elements;
import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Authenticator;
import io.timewheel.server.security.Authorization;
import io.timewheel.server.security.Caller;
import io.timewheel.server.security.Quotas;
import java.io.ByteArrayOutputStream;
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
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request and its answer. Any thread may answer, once. */
public final class Exchange {
  static final String REQUEST_ID = "X-Request-Id";

  private static final Pattern GIVEN_ID = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  /** Answers up to this size are never refused for lack of memory. */
  private static final int SMALL_BYTES = 4 * 1024;

  private final Shared shared;
  private final ClientAddress.Client from;
  private final long beganNanos = System.nanoTime();
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final AtomicBoolean answered = new AtomicBoolean();
  private Map<String, String> variables = Map.of();
  private @Nullable Route route;
  private Caller caller = Caller.NOBODY;
  private volatile @Nullable String client;
  private final String id;
  private final Map<String, Object> notes = new ConcurrentHashMap<>();
  private volatile boolean uneventful;
  private volatile @Nullable BodyMemory body;
  private volatile Scheduler.@Nullable Task deadline;
  private volatile long etag;

  /**
   * The parts of a server that all its requests share.
   *
   * @param authenticator finds callers
   * @param bodies the memory of bodies
   * @param maxBodyTime the longest time for a client to send a body
   * @param answers the memory of answers
   * @param maxStall the longest time for a client to accept a part of an answer
   * @param queues the queues for work that may block
   * @param storeTimeout the time within which the store must answer
   * @param auditLog the audit log
   * @param metrics measures the time of requests
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
      Shared shared,
      ClientAddress.Client from,
      Request request,
      Response response,
      Callback callback) {
    this.shared = shared;
    this.from = from;
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
    client = null;
  }

  /** {@return the ID of this request in the logs: from its client, or generated} */
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

  /** Refuses a change that the audit log or a quota does not admit. Charges a producer's write. */
  void checkChange(Route found) {
    if (found.isChange()) {
      shared.auditLog.checkWritable();
    }
    if (found.isCharged(caller)) {
      shared.quotas.write(caller, namespace());
    }
  }

  public Caller caller() {
    return caller;
  }

  /** {@return the token of the client; without tokens, the network that it is in} */
  public String client() {
    String known = client;
    if (known == null) {
      boolean hasToken = !caller.equals(Caller.LOCAL) && !caller.equals(Caller.NOBODY);
      known = hasToken ? caller.name() : from.network();
      client = known;
    }
    return known;
  }

  /** {@return whether the caller still has permission; for an answer long after the request} */
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

  /** {@return the namespace in the path; throws if the caller may not use it} */
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

  /** {@return the parameters of the query; refuses a parameter with any other name} */
  public Query query(String... names) {
    return Query.of(request.getHttpURI().getQuery(), names);
  }

  /**
   * Reads the body and continues with it; with an empty text if there is none.
   *
   * @param maxBytes the largest size of the body
   * @param then continues; an exception is answered
   */
  public void body(int maxBytes, Consumer<String> then) {
    body(maxBytes, Json.MEDIA_TYPE, then);
  }

  /**
   * Reads the body and continues with it; with an empty text if there is none.
   *
   * @param maxBytes the largest size of the body
   * @param type its media type
   * @param then continues; an exception is answered
   */
  public void body(int maxBytes, String type, Consumer<String> then) {
    body(maxBytes, type, new Text(), text -> then.accept(Json.decode(text.toByteArray())));
  }

  /**
   * Reads the body of a batch and continues with its elements.
   *
   * @param maxBytes the largest size of the body
   * @param then continues; an exception is answered
   */
  public void batch(int maxBytes, Consumer<Elements> then) {
    body(maxBytes, Json.MEDIA_TYPE, new Elements(), then);
  }

  /** A body that becomes a text. */
  private static final class Text extends ByteArrayOutputStream implements Consumer<ByteBuffer> {
    @Override
    public void accept(ByteBuffer more) {
      writeBytes(BufferUtil.toArray(more));
    }
  }

  private <S extends Consumer<ByteBuffer>> void body(
      int maxBytes, String type, S sink, Consumer<S> then) {
    long length = request.getHeaders().getLongField(HttpHeader.CONTENT_LENGTH);
    if (length <= 0 && !request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING)) {
      expectAnswer(Duration.ZERO);
      work(() -> then.accept(sink));
      return;
    }
    BodyReader.checkMediaType(request, type);
    if (length > maxBytes) {
      throw Problem.tooLarge("the body", maxBytes).failure();
    }
    BodyMemory memory = new BodyMemory(shared.bodies.of(client()), this::isAnswered);
    body = memory;
    on(
        new BodyReader<>(request, maxBytes, shared.maxBodyTime, memory.reserved(), sink).read(),
        content -> {
          expectAnswer(Duration.ZERO); // BodyReader limits the time before
          work(() -> memory.use(() -> then.accept(content)));
        });
  }

  /** Reserves memory that the body needs in addition to its bytes, or refuses the request. */
  public void reserve(long bytes) {
    BodyMemory held = body;
    if (held != null && !held.reserved().reserve(bytes)) {
      throw BodyReader.noMemory().failure();
    }
  }

  /** Releases the memory of the body, for a request that waits without it. */
  public void discardBody() {
    BodyMemory held = body;
    if (held != null) {
      held.discard();
    }
  }

  /** Runs a step that may block, when it is its turn. An exception is answered. */
  void work(Runnable step) {
    WorkQueue queue = shared.queues.get(requireNonNull(route, "route").work());
    if (queue == null) {
      run(step);
    } else {
      queue.run(this, step);
    }
  }

  /** {@return whether the request was answered, even with a problem} */
  public boolean isAnswered() {
    return answered.get();
  }

  // The deadline

  /**
   * Starts the deadline of the answer: the store timeout and additional time. At the deadline, the
   * answer is 503, although the store may still work on the request. The body must have been read:
   * two threads cannot read it.
   *
   * @param more the time in addition to the store timeout
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

  /** Removes the deadline, for a request with long work. */
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

  /** {@return the valid names in the path} */
  Map<String, String> names() {
    Map<String, String> names = new TreeMap<>();
    variables.forEach(
        (name, text) -> {
          try {
            names.put(name.equals("ns") ? "namespace" : name, PercentDecoder.decode(name, text));
          } catch (Problem.Failure e) {
            // the path shows the raw name
          }
        });
    return names;
  }

  /** Adds a fact to the audit log that the path does not contain. */
  public void note(String name, @Nullable Object value) {
    if (value != null) {
      notes.put(name, value);
    }
  }

  /** Marks a request that changed nothing, so that it needs no line in the audit log. */
  public void uneventful() {
    uneventful = true;
  }

  /** {@return whether the answer may be sent: false if a change needs a line, which is lost} */
  private boolean audit(int status) {
    if (route == null || !route.isChange() || uneventful) {
      return true;
    }
    AuditLog.Entry entry =
        new AuditLog.Entry(
            caller.name(),
            from.address(),
            id,
            route.method() + " " + route.pattern(),
            String.valueOf(request.getHttpURI().getPath()),
            names(),
            notes,
            status);
    return shared.auditLog.write(entry) || status >= 300;
  }

  // The answer

  /** Continues with a result. Any failure is answered. */
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

  /** Runs a step, and answers its exception. */
  public void run(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      problem(Problem.of(e));
    }
  }

  /** {@return the problem of an item of a batch; an unexpected cause is logged} */
  public Problem logged(@Nullable String item, Problem problem) {
    if (problem.cause() != null) {
      LOG.error(
          "{} {} failed for {}, request {} from {}",
          request.getMethod(),
          request.getHttpURI().getPath(),
          Json.text(String.valueOf(item)), // without line breaks
          id,
          from.address(),
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
          from.address(),
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

  /** Redirects to another path on this server. */
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
   * @param content the content in parts of at most 64 KB
   * @param written called with the result after the whole answer was sent
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
    long length = 0;
    for (ByteBuffer part : content) {
      length += part.remaining();
    }
    boolean small = length <= SMALL_BYTES;
    ByteBudget.Reservation reserved = shared.answers.of(client());
    if (!small && !reserved.reserve(length)) {
      written.failed(new EofException("there is no memory for the answer"));
      problem(
          Problem.busy(
              "too many bytes of answers wait for their clients (limit: %d); a requested change was made"
                  .formatted(shared.answers.maxBytes())));
      return;
    }
    if (!begin(status)) {
      reserved.release();
      written.failed(new EofException("answered already"));
      return;
    }
    HttpFields.Mutable fields = response.getHeaders();
    if (response.getStatus() != status) { // the line of the change is lost
      reserved.release();
      written.failed(new EofException("the audit log cannot be written"));
      fields.put(HttpHeader.CONTENT_TYPE, Problem.MEDIA_TYPE);
      AuditLog.LOST.headers().forEach(fields::put);
      response.write(true, ByteBuffer.wrap(Json.bytes(AuditLog.LOST.details())), callback);
      return;
    }
    headers.forEach(fields::put);
    if (etag != 0 && status < 300) {
      fields.put(HttpHeader.ETAG, "\"" + etag + "\"");
    }
    fields.put(HttpHeader.CONTENT_TYPE, type);
    fields.put(HttpHeader.CONTENT_LENGTH, length);
    Callback both = Callback.combine(callback, written);
    if (small && content.size() == 1) {
      AnswerWriter.write(response, true, content.get(0), shared.maxStall, both);
    } else {
      new AnswerWriter(response, content, reserved, shared.maxStall, both).iterate();
    }
  }

  /** Writes a part of a streamed answer, if there is memory for it. */
  public void write(byte[] part, Callback written) {
    ByteBudget.Reservation reserved = shared.answers.of(client());
    if (reserved.reserve(part.length)) {
      Callback end = Callback.from(reserved::release);
      AnswerWriter.write(
          response, false, ByteBuffer.wrap(part), shared.maxStall, Callback.combine(end, written));
    } else {
      written.failed(new EofException("there is no memory for more of the answer"));
    }
  }

  /** Begins a streamed answer. */
  public boolean begin(int status) {
    if (!answered.compareAndSet(false, true)) {
      return false;
    }
    stopDeadline();
    BodyMemory held = body;
    if (held != null) {
      held.releaseIfUnused();
    }
    int sent = audit(status) ? status : AuditLog.LOST.status();
    shared.metrics.answered(route, sent, System.nanoTime() - beganNanos);
    response.setStatus(sent);
    return true;
  }

  public Callback callback() {
    return callback;
  }

  /** Adds the version of a timer to the answer, unless the answer is a problem. */
  public void etag(long version) {
    etag = version;
  }
}
