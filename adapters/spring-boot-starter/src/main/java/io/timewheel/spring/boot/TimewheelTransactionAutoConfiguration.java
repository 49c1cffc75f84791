// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.TransactionTimers;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
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
      JdbcTimerStore store, ObjectProvider<PayloadCodec> codec) {
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

  @Bean
  @Lazy
  TransactionalMethods timewheelTransactionalMethods(
      TransactionTimers timers, DataSource source, PlatformTransactionManager manager) {
    return new TransactionalMethods(timers, source, manager);
  }
}
