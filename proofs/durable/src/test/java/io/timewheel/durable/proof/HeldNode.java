// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.testing.Database;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/**
 * A node with one attempt in its handler, and the success of another attempt between the fence and
 * its COMMIT. It prints a mark, and continues when its standard input ends.
 */
public final class HeldNode {
  static final String NAMESPACE = "shop";
  static final String IN_HANDLER = "in-handler";
  static final String AT_COMMIT = "at-commit";

  /** The progress marks that the node prints. */
  enum Mark {
    HELD,
    COMMITTED,
    REFUSED,
    CLOSED
  }

  private static final CountDownLatch IS_IN_HANDLER = new CountDownLatch(1);
  private static final CountDownLatch GO_ON = new CountDownLatch(1);
  private static final CountDownLatch ANSWERED = new CountDownLatch(1);
  private static volatile boolean holdsNextEnd;

  private HeldNode() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    Database database = new Database(args[0], args[1], args[2]);
    try (HikariDataSource pool = database.pool(6)) {
      DurableTimer scheduler =
          DurableTimer.builder(DatabaseKind.of(database).builder(held(pool)).open())
              .handler(IN_HANDLER, firing -> standStill())
              .handler(AT_COMMIT, firing -> end())
              .start();
      for (String id : new String[] {IN_HANDLER, AT_COMMIT}) {
        scheduler.schedule(TimerSpec.of(NAMESPACE, id).after(Duration.ZERO).handler(id));
      }
      while (System.in.read() >= 0) {
        // No error may end the input.
      }
      GO_ON.countDown();
      ANSWERED.await();
      scheduler.close();
    }
    say(Mark.CLOSED);
    System.exit(0);
  }

  private static void say(Mark mark) {
    System.out.println(mark);
    System.out.flush();
  }

  private static void standStill() throws InterruptedException {
    IS_IN_HANDLER.countDown();
    GO_ON.await();
  }

  private static void end() throws InterruptedException {
    IS_IN_HANDLER.await();
    holdsNextEnd = true;
  }

  private static DataSource held(DataSource source) {
    return (DataSource)
        Proxy.newProxyInstance(
            HeldNode.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              Object result = invoke(() -> method.invoke(source, arguments));
              return result instanceof Connection connection ? held(connection) : result;
            });
  }

  private static Connection held(Connection connection) {
    boolean[] fenced = new boolean[1];
    return (Connection)
        Proxy.newProxyInstance(
            HeldNode.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("prepareStatement")
                  && ((String) arguments[0]).contains("epoch FROM timewheel_shard")) {
                fenced[0] = true;
              }
              if (method.getName().equals("commit") && fenced[0] && holdsNextEnd) {
                holdsNextEnd = false;
                hold(connection);
                return null;
              }
              return invoke(() -> method.invoke(connection, arguments));
            });
  }

  private static void hold(Connection connection) throws SQLException, InterruptedException {
    say(Mark.HELD);
    GO_ON.await();
    try {
      connection.commit();
      say(Mark.COMMITTED);
    } catch (SQLException e) {
      say(Mark.REFUSED);
      throw e;
    } finally {
      ANSWERED.countDown();
    }
  }

  private interface Call {
    Object run() throws ReflectiveOperationException;
  }

  private static Object invoke(Call call) throws Throwable {
    try {
      return call.run();
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
