// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.model.Firing;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method of a bean a handler of the {@link DurableTimer}.
 *
 * <pre>{@code
 * @OnTimer("orders.cancel")
 * void cancel(OrderRef order, Firing firing) { ... }
 * }</pre>
 *
 * <p>The method returns {@code void}. Its parameters are the {@link Firing} and the payload in any
 * order, only one of them, or none. The type of the payload is a class that the {@link
 * PayloadCodec} can read, or {@code byte[]} for the raw bytes. If the method throws, the attempt
 * fails. A method that is not {@link #transactional()} may be called again for the same run, and
 * must tolerate that.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface OnTimer {
  /** {@return the name of the handler, which timers name; unique in the application} */
  String value();

  /**
   * {@return the maximum number of concurrent attempts on each node. The default is 256. For a
   * transactional method it is 4, because each attempt holds a connection}
   */
  int limit() default -1;

  /**
   * {@return the time limit of an attempt, such as {@code 30s}; empty for no limit. An attempt that
   * reaches the limit fails, and its thread is interrupted}
   */
  String timeLimit() default "";

  /**
   * {@return whether the method runs in the transaction that records its success, so its changes to
   * the database happen exactly once} Requires a {@code JdbcTimerStore}.
   *
   * <p>The application's {@code PlatformTransactionManager} begins the transaction for the attempt.
   * Changes that join it are committed or rolled back together with the completion of the timer:
   * JDBC on the {@code DataSource} bean, JPA if the manager is JPA's, and {@code @Transactional}
   * methods. If the method throws, or marks the transaction as rollback-only, the attempt fails.
   *
   * <p>Instead of the {@link Firing}, the method may take a {@code TransactionFiring}.
   */
  boolean transactional() default false;
}
