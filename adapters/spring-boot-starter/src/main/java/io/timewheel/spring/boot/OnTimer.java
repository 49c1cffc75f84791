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
 * <p>The method returns nothing. It may take the {@link Firing} and the payload, in any order, or
 * only one of them, or neither. The payload is a class that the {@link PayloadCodec} reads, or
 * {@code byte[]} for the bytes as they are. What the method throws is a failed attempt; it may be
 * called again for the same run, and must bear that, unless it is {@link #transactional()}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
public @interface OnTimer {
  /** {@return the name of the handler, which timers refer to; no other has it} */
  String value();

  /**
   * {@return how many attempts run at a time, at most; unless set, 256, and 4 of a method that is
   * transactional, since each of them holds a connection}
   */
  int limit() default -1;

  /**
   * {@return how long an attempt may take until its thread is interrupted and it has failed, such
   * as {@code 30s}; empty for no limit}
   */
  String timeLimit() default "";

  /**
   * {@return whether the method works in the transaction that records its success, so that what it
   * does to the database happens exactly once} It needs a {@code JdbcTimerStore}.
   *
   * <p>The transaction is one of the application's {@code PlatformTransactionManager}, begun for
   * the attempt. What joins it is committed with the end of the timer, or rolled back: JDBC on the
   * {@code DataSource} bean, JPA if the manager is JPA's, {@code @Transactional} methods. If the
   * method throws, or sets the transaction to be rolled back, the attempt has failed.
   *
   * <p>In place of the {@link Firing} the method may take a {@code TransactionFiring}.
   */
  boolean transactional() default false;
}
