// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.server.failure.FailureEvents;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.server.webhook.ConfiguredSecret;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.server.webhook.WebhookSecrets;
import io.timewheel.server.webhook.WebhookTarget;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for webhooks, and for events about failed timers. */
final class WebhookOptions {
  @Option(
      names = "--webhook-secrets",
      paramLabel = "FILE",
      description = "Read webhook secrets from this file (default: no webhooks).")
  private @Nullable Path webhookSecrets;

  @Option(
      names = "--allow-target",
      paramLabel = "CIDR",
      split = ",",
      description = "Allow webhooks to these private addresses; repeatable.",
      converter = CidrConverter.class)
  private List<Cidr> allowedTargets = new ArrayList<>();

  @Option(
      names = "--failed-webhook",
      paramLabel = "URL",
      description = "Post events about failed timers to this URL (needs --failed-secret).")
  private @Nullable String failedWebhook;

  @Option(
      names = "--failed-secret",
      paramLabel = "NAME",
      description = "Sign these events with this secret of --webhook-secrets.")
  private @Nullable String failedSecret;

  /** {@return the secrets that sign webhook requests; null if the server sends none} */
  @Nullable WebhookSecrets secrets() throws IOException {
    return webhookSecrets == null ? null : WebhookSecrets.open(webhookSecrets);
  }

  /** {@return the addresses that webhook requests may connect to} */
  AddressPolicy addressPolicy() {
    return AddressPolicy.admitting(allowedTargets);
  }

  /** {@return the target of events about failed timers; null if there are none} */
  @Nullable WebhookTarget failedWebhook(SecretSource secrets) throws IOException {
    if (failedWebhook == null && failedSecret == null) {
      return null;
    }
    if (failedWebhook == null || failedSecret == null) {
      throw CommandException.wrongUsage(
          "--failed-webhook and --failed-secret must be set together");
    }
    WebhookTarget target;
    try {
      target =
          new WebhookTarget(
              WebhookTarget.parseUrl(failedWebhook),
              failedSecret,
              Map.of(),
              WebhookTarget.DEFAULT_TIMEOUT);
    } catch (IllegalArgumentException e) {
      throw CommandException.wrongUsage(
          String.valueOf(e.getMessage()).replace("target.url", "--failed-webhook"));
    }
    ConfiguredSecret secret = secrets.find(failedSecret);
    if (secret == null
        || secret.keys().isEmpty()
        || !secret.admits(FailureEvents.NAMESPACE, target.origin())) {
      throw new IOException(
          "--failed-secret: no secret to sign with (expected: a name in --webhook-secrets, for the"
              + " namespace "
              + FailureEvents.NAMESPACE
              + " and the scheme, host and port of --failed-webhook)");
    }
    return target;
  }
}
