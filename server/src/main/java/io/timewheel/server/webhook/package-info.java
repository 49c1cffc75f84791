// SPDX-License-Identifier: Apache-2.0

/**
 * Calls the targets of timers over HTTP, as <a href="https://www.standardwebhooks.com">Standard
 * Webhooks</a> specifies. The entry is {@link io.timewheel.server.webhook.WebhookHandler}, the
 * handler of all timers that have a URL.
 *
 * <p>A <em>target</em> is where a timer's firings are posted to; {@code StoredTarget} keeps it in
 * the headers of the timer. A <em>call</em> is one attempt to do so, by {@code WebhookClient}; it
 * is signed with the <em>secret</em> that the target names, which {@code WebhookSecrets} has read.
 * {@code DeliverySlots} shares the slots of calls between namespaces and hosts. The <em>address
 * policy</em> decides which addresses a call may connect to.
 *
 * <p>{@code WebhookAnswer} tells success from failure, from a target that is gone and from one that
 * asks for a later retry; {@code WebhookHandler} ends the attempt by it. Whether and when there is
 * another attempt is decided by the engine ({@code RetryRule}), as for any handler.
 *
 * <p>Read {@code WebhookTarget}, {@code StoredTarget}, {@code WebhookClient}, {@code WebhookAnswer}
 * and {@code WebhookHandler} in this order.
 */
@NullMarked
package io.timewheel.server.webhook;

import org.jspecify.annotations.NullMarked;
