// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.HandlerNames;
import java.util.concurrent.CompletionStage;

/** Passes the notifications of the store to the parts of the engine. */
final class StoreEvents implements StoreListener {
  private final Engine engine;
  private final boolean client;

  StoreEvents(Engine engine, boolean client) {
    this.engine = engine;
    this.client = client;
  }

  @Override
  public HandlerNames handlers() {
    return engine.handlers.names();
  }

  @Override
  public boolean ownsShards() {
    return !client;
  }

  @Override
  public void known(HandlerNames ofLiveSessions) {
    engine.known.report(ofLiveSessions);
    if (!client) {
      engine.releases.start(); // a node may now know the handler of a blocked timer
    }
  }

  @Override
  public void acquired(int number, long epoch) {
    if (!engine.tasks.isClosed()) {
      engine.shards.acquired(number, epoch);
      engine.releases.acquired();
    }
  }

  @Override
  public CompletionStage<Void> releasing(int number) {
    return engine.shards.releasing(number);
  }

  @Override
  public void lost(int number) {
    engine.shards.lost(number);
  }

  @Override
  public void paused(String scope) {
    engine.attempts.pauseGate().paused(scope);
    engine.router.giveBack(
        scope.equals(TimerStore.EVERYTHING) ? run -> true : run -> run.isOf(scope));
  }

  @Override
  public void added(int number, long fireAt) {
    engine.shards.added(number, fireAt);
  }

  @Override
  public void ready(String namespace, String queue) {
    engine.claims.ready(namespace, queue);
  }

  @Override
  public void ready(String handler) {
    engine.handlerClaims.ready(handler);
  }
}
