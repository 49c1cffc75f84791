// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lists timers. A page is read in parts. Each part is a statement that begins after the last key of
 * the part before. A driver keeps all rows of a result in memory, so no statement may return more
 * than a few megabytes. The page ends when it has enough rows or bytes. Each statement reads both
 * tables, so a timer that moves between them is read once.
 *
 * <p>In another order than by id, a statement sorts all matching timers of the namespace.
 */
public final class TimerPages {
  /** The maximum number of rows of a statement; a payload has at most 64 KiB. */
  private static final int ROWS = 500;

  private static final int ROWS_WITH_PAYLOAD = 50;

  /**
   * A suffix that sorts after every id with a given prefix, because an id has at most 256 bytes.
   */
  private static final String LAST = new String(Character.toChars(0x10FFFF)).repeat(64);

  private static final Set<TimerState> FINISHED =
      EnumSet.of(TimerState.COMPLETED, TimerState.CANCELLED);

  /** The states whose timers are in the due index. */
  public static final Set<TimerState> INDEXED =
      EnumSet.of(TimerState.SCHEDULED, TimerState.RETRYING, TimerState.RUNNING);

  private final String doneColumns;
  private final String noPayload;
  private final String settings;
  private final String behind;

  /**
   * Creates the statements.
   *
   * @param doneColumns the columns of a finished timer, as {@link Rows#record} reads them
   * @param noPayload the expression in place of a payload that is not read
   * @param settings a statement before a query by id, which must read rows in the order of the
   *     index, not sort all of them for each page; empty if none is needed
   * @param behind a condition for the keys after one, with placeholders for its namespace, its
   *     namespace again, and its id; in a form for which the server uses the index
   */
  public TimerPages(String doneColumns, String noPayload, String settings, String behind) {
    this.doneColumns = doneColumns;
    this.noPayload = noPayload;
    this.settings = settings;
    this.behind = behind;
  }

  TimerPage read(
      Connection connection,
      TimerQuery query,
      TimerOrder order,
      @Nullable DuePosition after,
      int limit)
      throws SQLException {
    PageBuilder page = new PageBuilder(query, limit);
    DuePosition from = after;
    while (true) {
      int most = query.payload() ? ROWS_WITH_PAYLOAD : ROWS;
      int rows = Math.min(most, page.left() + 1); // an extra row means that another page follows
      List<TimerRecord> piece = rows(connection, query, order, from, rows);
      for (TimerRecord record : piece) {
        if (page.isFull()) {
          return page.build(false);
        }
        page.add(record);
        from = order.position(record);
      }
      if (piece.size() < rows) {
        return page.build(true);
      }
      if (page.isFull()) {
        return page.build(false);
      }
    }
  }

  private List<TimerRecord> rows(
      Connection connection,
      TimerQuery query,
      TimerOrder order,
      @Nullable DuePosition after,
      int limit)
      throws SQLException {
    Set<TimerState> unfinished = EnumSet.noneOf(TimerState.class);
    unfinished.addAll(query.states());
    unfinished.removeAll(FINISHED);
    boolean idle = unfinished.stream().noneMatch(INDEXED::contains);
    List<String> parts = new ArrayList<>();
    List<Object> values = new ArrayList<>();
    if (!unfinished.isEmpty()) {
      parts.add(
          "(SELECT "
              + (query.payload() ? Rows.TIMER_COLUMNS : Rows.COLUMNS + ", t.fire_at, " + noPayload)
              + " FROM timewheel_timer t WHERE "
              + (idle ? "t.fire_at IS NULL AND " : "")
              + conditions(query, order, after, limit, values));
    }
    if (query.states().stream().anyMatch(FINISHED::contains)) {
      parts.add(
          "(SELECT "
              + doneColumns
              + " FROM timewheel_done t WHERE "
              + Rows.NOT_PURGED
              + " AND "
              + conditions(query, order, after, limit, values));
    }
    if (parts.isEmpty()) {
      return List.of();
    }
    boolean byId = query.namespace() == null || time(order).isEmpty();
    String sql = (byId ? settings : "") + String.join(" UNION ALL ", parts);
    if (parts.size() > 1) {
      sql += " ORDER BY " + (order == TimerOrder.ID ? "namespace, id" : by(order, "")) + " LIMIT ?";
      values.add(limit);
    }
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.size(); i++) {
        statement.setObject(i + 1, values.get(i));
      }
      try (ResultSet rows = Sql.rows(statement)) {
        List<TimerRecord> records = new ArrayList<>();
        while (rows.next()) {
          records.add(Rows.record(rows));
        }
        return records;
      }
    }
  }

  private static String by(TimerOrder order, String table) {
    String direction = order.isDescending() ? " DESC" : "";
    String time = table.isEmpty() ? name(order) : time(order);
    return (time.isEmpty() ? "" : time + direction + ", ") + table + "id" + direction;
  }

  /** Returns the name of the column before the id in the order; empty if there is none. */
  private static String name(TimerOrder order) {
    return switch (order) {
      case ID, ID_DESCENDING -> "";
      case CREATED, CREATED_DESCENDING -> "created_at";
      case DUE, DUE_DESCENDING -> "due_at";
    };
  }

  /** Returns the time before the id in the order; empty if there is none. */
  private static String time(TimerOrder order) {
    return switch (order) {
      case ID, ID_DESCENDING -> "";
      case CREATED, CREATED_DESCENDING -> Rows.CREATED_AT;
      case DUE, DUE_DESCENDING -> "t.due_at";
    };
  }

  /** Returns a condition for rows after a position, in a list of one namespace. */
  private static String behind(TimerOrder order, DuePosition after, List<Object> values) {
    String sign = order.isDescending() ? "<" : ">";
    String time = time(order);
    if (time.isEmpty()) {
      values.add(after.key().id());
      return "t.id " + sign + " ?";
    }
    values.add(after.fireAt());
    values.add(after.fireAt());
    values.add(after.key().id());
    return "(%1$s %2$s ? OR %1$s = ? AND t.id %2$s ?)".formatted(time, sign);
  }

  private String conditions(
      TimerQuery query,
      TimerOrder order,
      @Nullable DuePosition after,
      int limit,
      List<Object> values) {
    String marks = String.join(", ", Collections.nCopies(query.states().size(), "?"));
    StringBuilder sql =
        new StringBuilder("t.due_at >= ? AND t.due_at < ? AND t.state IN (" + marks + ")");
    values.add(query.dueFrom());
    values.add(query.dueTo());
    query.states().forEach(state -> values.add(Codes.STATES.of(state)));
    if (query.namespace() != null) {
      sql.append(" AND t.namespace = ?");
      values.add(query.namespace());
    }
    if (!query.prefix().isEmpty()) {
      sql.append(" AND t.id >= ? AND t.id <= ?"); // by bytes: only ids with the prefix
      values.add(query.prefix());
      values.add(query.prefix() + LAST);
    }
    if (query.handler() != null) {
      sql.append(" AND t.handler = ?");
      values.add(query.handler());
    }
    if (query.queue() != null) {
      sql.append(" AND (t.flags & 1) = ?");
      values.add(query.queue() ? 1 : 0);
    }
    if (after != null && after.key().namespace().equals(query.namespace())) {
      sql.append(" AND ").append(behind(order, after, values));
    } else if (after != null) {
      sql.append(" AND ").append(behind);
      values.add(after.key().namespace());
      values.add(after.key().namespace());
      values.add(after.key().id());
    }
    values.add(limit);
    // MariaDB would sort by the namespace, although there is only one.
    return sql.append(" ORDER BY ")
        .append(query.namespace() == null ? "t.namespace, t.id" : by(order, "t."))
        .append(" LIMIT ?)")
        .toString();
  }
}
