// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Configures durable timers in transactions, if there is a {@link JdbcTimerStore} bean. One bean is
 * {@link TransactionTimers} with the {@link PayloadCodec} of the application. If there is a single
 * or primary {@link DataSource}, another is a {@link CurrentTransactionTimer} that uses them.
 * {@linkplain OnTimer#transactional() Transactional} methods use the {@link
 * PlatformTransactionManager}.
 */
@AutoConfiguration(
    after = TimewheelDurableAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
    })
@ConditionalOnClass({JdbcTimerStore.class, DataSourceUtils.class})
@ConditionalOnProperty(name = "timewheel.durable.enabled", matchIfMissing = true)
@ConditionalOnBean(JdbcTimerStore.class)
public final class TimewheelTransactionAutoConfiguration {
  TimewheelTransactionAutoConfiguration() {}

  @Bean
  @Lazy
  @ConditionalOnMissingBean
  TransactionTimers timewheelTransactionTimers(
      JdbcTimerStore store,
      ObjectProvider<TimerStore> storeOfScheduler,
      ObjectProvider<PayloadCodec> codec,
      ConfigurableListableBeanFactory beans) {
    TimerStore other = storeOfScheduler.getObject();
    if (other != store && !(other instanceof ForwardingTimerStore)) {
      throw new IllegalStateException(
          "timers in transactions would be in the store "
              + nameOf(store, beans)
              + ", but the DurableTimer uses the store "
              + nameOf(other, beans)
              + " (expected: one store, or the JdbcTimerStore as @Primary, or your own"
              + " TransactionTimers bean)");
    }
    return TransactionTimers.of(store, settings -> codec.ifAvailable(settings::codec));
  }

  @Bean
  @Lazy
  @ConditionalOnMissingBean
  @ConditionalOnSingleCandidate(DataSource.class)
  CurrentTransactionTimer timewheelCurrentTransactionTimer(
      TransactionTimers timers, DataSource source) {
    return new CurrentTransactionTimer(timers, source);
  }

  private static String nameOf(TimerStore store, ConfigurableListableBeanFactory beans) {
    return beans.getBeansOfType(TimerStore.class, true, false).entrySet().stream()
        .filter(bean -> bean.getValue() == store)
        .map(bean -> "'" + bean.getKey() + "'")
        .findFirst()
        .orElseGet(store::toString);
  }

  @Bean
  @Lazy
  TransactionalMethods timewheelTransactionalMethods(
      TransactionTimers timers,
      DataSource source,
      PlatformTransactionManager manager,
      ObjectProvider<PoolSize> poolSize) {
    PoolSize size = poolSize.getIfAvailable();
    return new TransactionalMethods(timers, source, manager, size == null ? null : size.of(source));
  }

  /** Reads the maximum number of connections of a pool. */
  interface PoolSize {
    /** {@return the number; null if it is unknown} */
    @Nullable Integer of(DataSource source);
  }

  /** Reads the sizes of pools with Spring Boot's support for JDBC. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(DataSourcePoolMetadataProvider.class)
  static class WithPoolMetadata {
    @Bean
    PoolSize timewheelPoolSize(ObjectProvider<DataSourcePoolMetadataProvider> pools) {
      DataSourcePoolMetadataProvider all =
          new CompositeDataSourcePoolMetadataProvider(pools.stream().toList());
      return source -> {
        DataSourcePoolMetadata pool = all.getDataSourcePoolMetadata(source);
        return pool == null ? null : pool.getMax();
      };
    }
  }
}
