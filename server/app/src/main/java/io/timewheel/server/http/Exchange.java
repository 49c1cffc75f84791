// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Authenticator;
import io.timewheel.server.security.Quotas;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answer to a request, and the steps that lead to it. Any thread may answer, once. */
public final class Exchange {
  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  /** Answers up to this size are never refused for lack of memory. */
  private static final int SMALL_BYTES = 4 * 1024;

  private final Shared shared;
  private final ApiRequest request;
  private final Response response;
  private final Callback callback;
  private final long beganNanos;
  private final Deadline deadline;
  private final AtomicBoolean answered = new AtomicBoolean();
  private final Map<String, Object> notes = new ConcurrentHashMap<>();
  private volatile boolean uneventful;
  private volatile @Nullable BodyMemory body;
  private volatile long etag;

  /** A step of a request. */
  public interface Step {
    void run() throws Exception;
  }

  /**
   * The parts of a server that all its requests share.
   *
   * @param maxBodyTime the longest time for a client to send a body
   * @param maxStall the longest time for a client to accept a part of an answer
   * @param queues the queues for work that may block
   * @param storeTimeout the time within which the store must answer
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
      Shared shared, ApiRequest request, Response response, Callback callback, long beganNanos) {
    this.shared = shared;
    this.request = request;
    this.response = response;
    this.callback = callback;
    this.beganNanos = beganNanos;
    this.deadline =
        new Deadline(
            request.http().getConnectionMetaData().getConnector().getScheduler(),
            shared.storeTimeout,
            this::overdue);
  }

  public ApiRequest request() {
    return request;
  }

  public Response response() {
    return response;
  }

  public Callback callback() {
    return callback;
  }

  /** {@return the deadline of the answer, which begins with the turn of the request} */
  public Deadline deadline() {
    return deadline;
  }

  /** {@return the quotas of tokens and namespaces} */
  public Quotas quotas() {
    return shared.quotas;
  }

  /** {@return whether the caller still has permission; for an answer long after the request} */
  public boolean isStillAdmitted() {
    return shared.authenticator.authenticate(request.credentials()).isBy(request.caller());
  }

  // The steps

  /** Reads the body of a write, and then runs its step. */
  <S extends Consumer<ByteBuffer>> void read(Body<S> expected) {
    HttpFields headers = request.http().getHeaders();
    long length = headers.getLongField(HttpHeader.CONTENT_LENGTH);
    if (length <= 0 && !headers.contains(HttpHeader.TRANSFER_ENCODING)) {
      inTurn(() -> expected.then().accept(expected.sink()));
      return;
    }
    BodyReader.checkMediaType(request.http(), expected.type());
    if (length > expected.maxBytes()) {
      throw Problem.tooLarge("the body", expected.maxBytes()).failure();
    }
    BodyMemory memory = new BodyMemory(shared.bodies.of(request.client()), this::isAnswered);
    body = memory;
    on(
        new BodyReader<>(
                request.http(),
                expected.maxBytes(),
                shared.maxBodyTime,
                memory.reserved(),
                expected.sink())
            .read(),
        content -> inTurn(() -> memory.use(() -> expected.then().accept(content))));
  }

  /**
   * Runs the step of a read or a write when it is its turn, with a deadline. An exception is
   * answered. A body was read before, because two threads cannot read it.
   */
  void inTurn(Step step) {
    Route route = requireNonNull(request.route(), "route");
    if (!route.isOpen()) {
      deadline.restart(Duration.ZERO);
    }
    WorkQueue queue = shared.queues.get(route.work());
    if (queue == null) {
      run(step);
    } else {
      queue.run(this, step);
    }
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

  /** {@return whether the request was answered, even with a problem} */
  public boolean isAnswered() {
    return answered.get();
  }

  private void overdue() {
    Problem overdue =
        request.isRead()
            ? Problem.storeTimeout(shared.storeTimeout)
            : Problem.unknownOutcome(shared.storeTimeout);
    // The thread that would read the next request of the connection may wait for the store.
    problem(overdue.header("Connection", "close"));
  }

  // For the audit log

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
    Route route = request.route();
    if (route == null || !route.isChange() || uneventful) {
      return true;
    }
    AuditLog.Entry entry =
        new AuditLog.Entry(
            request.caller().name(),
            request.address(),
            request.id(),
            route.operation(),
            String.valueOf(request.http().getHttpURI().getPath()),
            request.names(),
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
  public void run(Step step) {
    try {
      step.run();
    } catch (Exception | Error e) {
      problem(Problem.of(e));
    }
  }

  /** {@return the problem of a request, or of an item of a batch; an unexpected cause is logged} */
  public Problem logged(@Nullable String item, Problem problem) {
    if (problem.cause() != null) {
      LOG.error(
          "{} failed{}, request {} from {}",
          request,
          item == null ? "" : " for " + Json.text(item), // without line breaks
          request.id(),
          request.address(),
          problem.cause());
    }
    return problem;
  }

  public void problem(Problem problem) {
    var unused = logged(null, problem);
    BodyReader.discard(
        request.http(),
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
    ByteBudget.Reservation reserved = shared.answers.of(request.client());
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
    ByteBudget.Reservation reserved = shared.answers.of(request.client());
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
    deadline.end();
    BodyMemory held = body;
    if (held != null) {
      held.releaseIfUnused();
    }
    int sent = audit(status) ? status : AuditLog.LOST.status();
    shared.metrics.answered(request.route(), sent, System.nanoTime() - beganNanos);
    response.setStatus(sent);
    return true;
  }

  /** Adds the version of a timer to the answer, unless the answer is a problem. */
  public void etag(long version) {
    etag = version;
  }
}
