// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ReflectionUtils;

/** The handler for an {@link OnTimer} method of a bean. */
final class OnTimerMethod implements Handler {
  private static final int DEFAULT_LIMIT = 256;

  /**
   * The default limit for transactional methods. In a pool of ten connections, the default of
   * HikariCP, it leaves six for other work.
   */
  private static final int DEFAULT_TRANSACTIONS = 4;

  private final BeanFactory beans;
  private final String bean;
  private final OnTimer annotation;
  private final Method method;
  private final Method invocable;
  private final @Nullable Class<?> payload;
  private final @Nullable PayloadCodec codec;
  private final @Nullable ExactlyOnce exactlyOnce;
  private final Class<?> firingType;

  /**
   * Checks the method.
   *
   * @param beanType the type of the bean as it is called, which may be that of a proxy
   * @param codec reads payloads that are objects; null if there is none
   * @param transactions used only for a transactional method
   * @throws IllegalStateException if the method cannot be a handler
   */
  OnTimerMethod(
      BeanFactory beans,
      String bean,
      Class<?> beanType,
      OnTimer annotation,
      Method method,
      @Nullable PayloadCodec codec,
      ObjectProvider<ExactlyOnce> transactions) {
    this.beans = beans;
    this.bean = bean;
    this.annotation = annotation;
    this.method = method;
    this.codec = codec;
    exactlyOnce = annotation.transactional() ? transactions.getIfAvailable() : null;
    if (annotation.transactional() && exactlyOnce == null) {
      throw invalid(
          "it is transactional, but its timers are not in a database",
          "a JdbcTimerStore bean, of timewheel-durable-jdbc, and spring-jdbc");
    }
    firingType = exactlyOnce == null ? Firing.class : exactlyOnce.firingType();
    if (method.getReturnType() != void.class) {
      throw invalid(
          "it returns " + method.getReturnType().getTypeName(),
          "void, because an attempt ends when the method returns");
    }
    if (isAsync()) {
      throw invalid(
          "it is @Async", "a synchronous method, because an attempt ends when the method returns");
    }
    payload = payloadType();
    try {
      invocable = AopUtils.selectInvocableMethod(method, beanType);
    } catch (IllegalStateException e) {
      throw invalid(String.valueOf(e.getMessage()), "a method that the proxy of the bean has");
    }
    ReflectionUtils.makeAccessible(invocable);
  }

  private boolean isAsync() {
    return AnnotatedElementUtils.hasAnnotation(method, Async.class)
        || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
  }

  private @Nullable Class<?> payloadType() {
    Class<?> found = null;
    boolean firing = false;
    Type[] types = method.getGenericParameterTypes();
    for (int i = 0; i < types.length; i++) {
      if (types[i] == firingType && !firing) {
        firing = true;
      } else if (isOurs(types[i]) || found != null) {
        throw invalid(
            "its parameters",
            "a " + firingType.getSimpleName() + ", a payload, both or none, each once");
      } else if (types[i] instanceof Class<?> type && !type.isPrimitive()) {
        found = type;
      } else {
        throw invalid("its payload is a " + types[i].getTypeName(), "a class without parameters");
      }
    }
    if (found != null && found != byte[].class && codec == null) {
      throw invalid(
          "no codec reads a " + found.getTypeName(),
          "a PayloadCodec bean, or Jackson from spring-boot-starter-jackson, before Spring Boot 4"
              + " from spring-boot-starter-json");
    }
    return found;
  }

  /**
   * Returns whether a type is a firing or another type of this library, and so not a payload.
   * Compares names, because the class of the other kind of firing may be missing.
   */
  private static boolean isOurs(Type type) {
    return type.getTypeName().startsWith("io.timewheel.durable.");
  }

  String name() {
    return annotation.value();
  }

  boolean isTransactional() {
    return annotation.transactional();
  }

  int limit() {
    int byDefault = annotation.transactional() ? DEFAULT_TRANSACTIONS : DEFAULT_LIMIT;
    return annotation.limit() == -1 ? byDefault : annotation.limit();
  }

  @Nullable Duration timeLimit() {
    String text = annotation.timeLimit();
    try {
      return text.isEmpty() ? null : DurationStyle.detectAndParse(text);
    } catch (IllegalArgumentException e) {
      throw invalid("timeLimit " + text, "a duration, such as 30s");
    }
  }

  IllegalStateException invalid(String fault, String expected) {
    return new IllegalStateException(this + ": " + fault + " (expected: " + expected + ")");
  }

  Method method() {
    return method;
  }

  /** {@return the handler to register, which calls the method} */
  Handler handler() {
    return exactlyOnce == null ? this : exactlyOnce.handler(this);
  }

  @Override
  public void handle(Firing firing) throws Exception {
    invoke(firing, firing.payload());
  }

  /** Calls the method, with the firing and the payload if it takes them. */
  void invoke(Object firing, byte[] bytes) throws Exception {
    Object[] arguments = new Object[invocable.getParameterCount()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = invocable.getParameterTypes()[i] == firingType ? firing : payload(bytes);
    }
    try {
      invocable.invoke(beans.getBean(bean), arguments);
    } catch (InvocationTargetException e) {
      ReflectionUtils.rethrowException(e.getTargetException());
    }
  }

  private Object payload(byte[] bytes) {
    return payload == null || codec == null || payload == byte[].class
        ? bytes
        : codec.read(bytes, payload);
  }

  @Override
  public String toString() {
    return "@OnTimer(\""
        + annotation.value()
        + "\") on "
        + method.getDeclaringClass().getTypeName()
        + "."
        + method.getName();
  }
}
