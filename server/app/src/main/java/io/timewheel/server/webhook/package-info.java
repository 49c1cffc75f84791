// SPDX-License-Identifier: Apache-2.0

/**
 * Sends requests to the targets of timers over HTTP, by the rules of <a
 * href="https://www.standardwebhooks.com">Standard Webhooks</a>. The entry is {@link
 * io.timewheel.server.webhook.WebhookHandler}, the handler of all timers that have a URL.
 *
 * <p>A <em>target</em> receives a timer's firings; {@code StoredTarget} stores it in the headers of
 * the timer. A <em>delivery</em> is one attempt. {@code WebhookClient} sends its request, signed
 * with the <em>secret</em> that the target names, from {@code WebhookSecrets}. {@code
 * DeliverySlots} shares the slots of deliveries between namespaces and hosts, and {@code
 * HostLimits} limits the deliveries of all nodes to a host. {@code CheckedResolver} looks up hosts
 * on the threads of {@code Lookups}. The <em>address policy</em> decides which addresses a request
 * may connect to. {@code DeliveryPhase} names the part of a request that failed.
 *
 * <p>{@code WebhookAnswer} distinguishes success, failure, a target that no longer exists, and a
 * target that asks for a later retry. {@code WebhookHandler} ends the attempt accordingly. The
 * engine decides about another attempt ({@code EndRule}), as for any handler.
 *
 * <p>Read {@code WebhookTarget}, {@code StoredTarget}, {@code WebhookClient}, {@code WebhookAnswer}
 * and {@code WebhookHandler} in this order.
 */
@NullMarked
package io.timewheel.server.webhook;

import org.jspecify.annotations.NullMarked;
