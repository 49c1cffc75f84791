// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.jdbc.TransactionFiring;
import io.timewheel.durable.jdbc.TransactionRunner;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Runs methods in a transaction of the application's transaction manager, which also records the
 * success of the attempt. The manager begins the transaction, and commits it or rolls it back. So
 * code that the method calls sees an ordinary transaction: {@code @Transactional} methods, JDBC,
 * JPA, and transaction listeners.
 */
final class TransactionalMethods implements ExactlyOnce {
  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  /** The number of connections that a store uses at the same time. */
  private static final int STORE_CONNECTIONS = 7;

  private static final Set<Integer> APART =
      Set.of(
          TransactionDefinition.PROPAGATION_REQUIRES_NEW,
          TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
          TransactionDefinition.PROPAGATION_NEVER);

  private final TransactionTimers timers;
  private final DataSource source;
  private final PlatformTransactionManager manager;
  private final @Nullable Integer poolSize;

  /**
   * Creates the methods' transactions.
   *
   * @param poolSize the maximum number of connections of the source; null if it is unknown
   */
  TransactionalMethods(
      TransactionTimers timers,
      DataSource source,
      PlatformTransactionManager manager,
      @Nullable Integer poolSize) {
    this.timers = timers;
    this.source = source;
    this.manager = manager;
    this.poolSize = poolSize;
  }

  @Override
  public void checkPool(int methods, long attempts) {
    if (poolSize != null && attempts > poolSize) {
      LOGGER.log(
          System.Logger.Level.WARNING,
          "transactional @OnTimer methods can hold all connections of the pool: the limits of "
              + methods
              + " methods add up to "
              + attempts
              + " attempts, and the pool has "
              + poolSize
              + " connections (expected: at least "
              + (attempts + STORE_CONNECTIONS)
              + ", "
              + STORE_CONNECTIONS
              + " of them for the store, or lower limits)");
    }
  }

  @Override
  public Class<?> firingType() {
    return TransactionFiring.class;
  }

  @Override
  public FinishingHandler handler(OnTimerMethod method) {
    TransactionAttribute own =
        new AnnotationTransactionAttributeSource(false)
            .getTransactionAttribute(method.method(), method.method().getDeclaringClass());
    if (own != null && APART.contains(own.getPropagationBehavior())) {
      throw method.invalid(
          "its @Transactional excludes it from the transaction of its timer",
          "one that joins, such as REQUIRED, or none");
    }
    try {
      TransactionDefinition definition = definition(method.timeLimit());
      return timers.handler(
          (firing, connection) -> {
            method.invoke(firing, firing.payload());
            if (Thread.interrupted()) { // the time limit has passed, or the application stops
              throw new InterruptedException();
            }
          },
          work -> run(work, definition));
    } catch (RuntimeException e) {
      throw new IllegalStateException(method + ": " + e.getMessage(), e);
    }
  }

  /** Returns a definition of a new transaction, even if the handler's thread already has one. */
  private static TransactionDefinition definition(@Nullable Duration timeLimit) {
    DefaultTransactionDefinition definition =
        new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    if (timeLimit != null) { // it also cancels statements, which an interrupt does not
      long seconds = timeLimit.plusSeconds(1).minusNanos(1).toSeconds();
      definition.setTimeout((int) Math.min(seconds, Integer.MAX_VALUE));
    }
    return definition;
  }

  private void run(TransactionRunner.Work work, TransactionDefinition definition) throws Exception {
    TransactionStatus status = manager.getTransaction(definition);
    try {
      Connection connection = CurrentTransactionTimer.connection(source);
      try {
        work.handle(connection);
        if (status.isRollbackOnly()) {
          throw new UnexpectedRollbackException("the transaction was marked as rollback-only");
        }
        status.flush(); // writes the pending changes of JPA
        work.finish();
      } finally {
        DataSourceUtils.releaseConnection(connection, source);
      }
    } catch (Throwable e) {
      rollBack(status, e);
      throw e;
    }
    manager.commit(status);
  }

  private void rollBack(TransactionStatus status, Throwable cause) {
    try {
      manager.rollback(status);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}
