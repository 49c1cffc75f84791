// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Wraps a connection for one call of a handler, which may not end the transaction. */
final class HandlerConnection implements InvocationHandler {
  private static final Set<String> REFUSED =
      Set.of(
          "commit",
          "close",
          "abort",
          "setAutoCommit",
          "setReadOnly",
          "setTransactionIsolation",
          "setSchema",
          "setCatalog");

  private final Connection connection;
  private final Connection proxy;
  private volatile boolean ended;

  HandlerConnection(Connection connection) {
    this.connection = connection;
    proxy =
        (Connection)
            Proxy.newProxyInstance(
                HandlerConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, this);
  }

  Connection connection() {
    return proxy;
  }

  /** Makes the connection unusable for a handler that has kept it. */
  void end() {
    ended = true;
  }

  @Override
  public @Nullable Object invoke(
      Object self, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    String name = method.getName();
    boolean plain = arguments == null || arguments.length == 0;
    if (method.getDeclaringClass() == Object.class) {
      return switch (name) {
        case "equals" -> arguments != null && arguments[0] == self;
        case "hashCode" -> System.identityHashCode(self);
        default -> "the connection of a timer's transaction";
      };
    }
    if (ended) {
      if (name.equals("isClosed")) {
        return true;
      }
      if (name.equals("close")) {
        return null;
      }
      throw new SQLException("the handler has returned: its transaction is over", "08003");
    }
    if (REFUSED.contains(name) || (name.equals("rollback") && plain)) {
      throw new SQLException(
          name
              + ": the transaction of a handler ends with the handler (expected: return, or throw)",
          "2D000");
    }
    try {
      return method.invoke(connection, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
