// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/** Wraps a user's listener. Passes everything that it throws to a handler, which does not throw. */
final class GuardedListener implements TimerListener {
  private final TimerListener listener;
  private final TaskErrorHandler onError;

  GuardedListener(TimerListener listener, TaskErrorHandler onError) {
    this.listener = listener;
    this.onError = onError;
  }

  @Override
  public void started(Timeout timeout) {
    try {
      listener.started(timeout);
    } catch (Throwable e) {
      onError.handle(timeout, e);
    }
  }

  @Override
  public void rescheduled(Timeout timeout) {
    try {
      listener.rescheduled(timeout);
    } catch (Throwable e) {
      onError.handle(timeout, e);
    }
  }

  @Override
  public void cancelled(Timeout timeout) {
    try {
      listener.cancelled(timeout);
    } catch (Throwable e) {
      onError.handle(timeout, e);
    }
  }

  @Override
  public void expired(Timeout timeout, long lagNanos) {
    try {
      listener.expired(timeout, lagNanos);
    } catch (Throwable e) {
      onError.handle(timeout, e);
    }
  }

  @Override
  public void rejected(Timeout timeout, Throwable cause) {
    try {
      listener.rejected(timeout, cause);
    } catch (Throwable e) {
      onError.handle(timeout, e);
    }
  }

  @Override
  public void completed(Timeout timeout, long runNanos) {
    try {
      listener.completed(timeout, runNanos);
    } catch (Throwable e) {
      onError.handle(timeout, e);
    }
  }

  @Override
  public void failed(Timeout timeout, Throwable error, long runNanos) {
    try {
      listener.failed(timeout, error, runNanos);
    } catch (Throwable e) {
      onError.handle(timeout, e);
    }
  }
}
