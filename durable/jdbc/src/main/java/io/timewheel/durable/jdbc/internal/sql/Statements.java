// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.sql;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Collects statements of one transaction, and sends them together when an answer is needed, because
 * a round trip costs more than most of them. The server executes them in the order in which they
 * were added. If a statement fails, all later ones and the transaction fail too. Answers are read
 * only after all statements are sent, so a large statement must not follow one with a large answer.
 * Not thread-safe.
 *
 * <p>{@link #close} throws if a statement was added and never sent. So each use is a
 * try-with-resources block, and returns normally only after all its statements have been executed.
 */
public final class Statements implements AutoCloseable {
  private static final int MAX_JOINED = 200;

  private static final Map<List<String>, String> JOINED = new ConcurrentHashMap<>();

  private final Connection connection;
  private final List<PendingAnswer<?>> waiting = new ArrayList<>();

  public Statements(Connection connection) {
    this.connection = connection;
  }

  /** The answer to a statement. */
  public interface Answer<T> {
    /** Waits for the answer. Called once. */
    T get() throws SQLException;
  }

  /** Sets the parameters of a statement. */
  public interface Binding {
    void bind(Parameters to) throws SQLException;
  }

  /** Reads all rows. */
  public interface Reading<T> {
    T read(ResultSet rows) throws SQLException;
  }

  private final class PendingAnswer<T> implements Answer<T> {
    private final String sql;
    private final Binding binding;
    private final @Nullable Reading<T> reading;
    private @Nullable T value;
    private boolean sent;

    PendingAnswer(String sql, Binding binding, @Nullable Reading<T> reading) {
      this.sql = sql;
      this.binding = binding;
      this.reading = reading;
    }

    void take(PreparedStatement statement) throws SQLException {
      if (reading != null) {
        try (ResultSet rows = statement.getResultSet()) {
          value = reading.read(rows);
        }
      }
    }

    @Override
    public T get() throws SQLException {
      if (!sent) {
        send();
      }
      return requireNonNull(value);
    }
  }

  /** {@return the connection, for statements that do not wait; sends the waiting ones first} */
  public Connection connection() throws SQLException {
    send();
    return connection;
  }

  /** Adds a statement that returns rows. */
  public <T> Answer<T> query(String sql, Binding binding, Reading<T> reading) {
    PendingAnswer<T> query = new PendingAnswer<>(sql, binding, reading);
    waiting.add(query);
    return query;
  }

  /** Adds a statement that returns no rows. */
  public void update(String sql, Binding binding) {
    waiting.add(new PendingAnswer<Void>(sql, binding, null));
  }

  /** Sends the waiting statements. */
  public void send() throws SQLException {
    if (waiting.isEmpty()) {
      return;
    }
    List<PendingAnswer<?>> now = List.copyOf(waiting);
    waiting.clear();
    String sql = joined(now.stream().map(each -> each.sql).toList());
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      Parameters to = new Parameters(connection, statement);
      for (PendingAnswer<?> each : now) {
        each.binding.bind(to);
      }
      statement.execute();
      for (int i = 0; i < now.size(); i++) {
        if (i > 0) {
          statement.getMoreResults();
        }
        now.get(i).take(statement);
        now.get(i).sent = true;
      }
    }
  }

  /** Joins statements. The driver finds a known text faster if it is the same object. */
  private static String joined(List<String> statements) {
    if (statements.size() == 1) {
      return statements.get(0);
    }
    String known = JOINED.get(statements);
    if (known == null) {
      known = String.join(";\n", statements);
      if (JOINED.size() < MAX_JOINED) {
        JOINED.put(statements, known);
      }
    }
    return known;
  }

  /**
   * Checks that every statement was sent. If the block has already thrown an exception, this one is
   * added to it as a suppressed exception.
   */
  @Override
  public void close() {
    if (!waiting.isEmpty()) {
      throw new IllegalStateException(
          "statements were added and not sent: "
              + waiting.size()
              + " (first: "
              + waiting.get(0).sql
              + ")");
    }
  }
}
