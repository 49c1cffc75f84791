// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;
import tools.jackson.databind.json.JsonMapper;

/**
 * Configures a scheduler for durable timers, with the {@link OnTimer} methods of all beans as its
 * handlers.
 *
 * <table>
 * <caption>The beans</caption>
 * <tr><th>Bean<th>Description<th>Not created if there is
 * <tr><td>{@code timewheelDurableTimer}<td>a {@link DurableTimer} on the {@link TimerStore} bean<td>a {@link DurableTimer}; {@link OnTimer} does not work with it
 * <tr><td>{@code timewheelStore}<td>RocksDB in {@code timewheel.durable.directory}, if {@code timewheel-durable-rocksdb} is on the class path<td>a {@link TimerStore}
 * <tr><td>{@code timewheelPayloads}<td>JSON, with the application's Jackson
 * <td>a {@link PayloadCodec}
 * </table>
 *
 * <p>The store is opened only if there is a bean that injects the {@link DurableTimer}, an {@link
 * OnTimer} method, or a {@link DurableTimerCustomizer}. Timers fire from the refresh of the context
 * until its close. When the context closes, running attempts may end within {@code
 * timewheel.shutdown-timeout}.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
      "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
      "org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration"
    })
@ConditionalOnClass(DurableTimer.class)
@ConditionalOnProperty(name = "timewheel.durable.enabled", matchIfMissing = true)
@EnableConfigurationProperties({TimewheelProperties.class, TimewheelDurableProperties.class})
public final class TimewheelDurableAutoConfiguration {
  /** The name of the durable timer bean. */
  static final String TIMER = "timewheelDurableTimer";

  TimewheelDurableAutoConfiguration() {}

  @Bean
  DurableTimers timewheelDurableTimers(
      ConfigurableApplicationContext context,
      ObjectProvider<DurableTimerCustomizer> customizers,
      ObjectProvider<PayloadCodec> codec,
      TimewheelProperties properties) {
    return new DurableTimers(context, customizers, codec, properties.shutdownTimeout());
  }

  @Bean(TIMER)
  @Lazy
  @ConditionalOnMissingBean
  DurableTimer timewheelDurableTimer(DurableTimers timers, ObjectProvider<TimerStore> store) {
    return timers.make(store);
  }

  /** Configures the default store. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(RocksTimerStore.class)
  static class InADirectory {
    @Bean
    @Lazy
    @ConditionalOnMissingBean(TimerStore.class)
    RocksTimerStore timewheelStore(TimewheelDurableProperties properties) {
      String directory = properties.checkedDirectory();
      try {
        return RocksTimerStore.open(Path.of(directory));
      } catch (InvalidPathException | DurableTimerException e) {
        throw new DirectoryException(directory, e);
      }
    }
  }

  /** Configures payloads with Jackson 3. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(JsonMapper.class)
  @Order(1)
  static class WithJackson {
    @Bean
    @ConditionalOnSingleCandidate(JsonMapper.class)
    @ConditionalOnMissingBean(PayloadCodec.class)
    JacksonPayloads timewheelPayloads(JsonMapper mapper) {
      return new JacksonPayloads(mapper);
    }
  }

  /** Configures payloads with Jackson 2. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ObjectMapper.class)
  @Order(2)
  static class WithJackson2 {
    @Bean
    @ConditionalOnSingleCandidate(ObjectMapper.class)
    @ConditionalOnMissingBean(PayloadCodec.class)
    Jackson2Payloads timewheelPayloads(ObjectMapper mapper) {
      return new Jackson2Payloads(mapper);
    }
  }
}
