// SPDX-License-Identifier: Apache-2.0

/**
 * Settings, secrets and logs of the server and of its clients. The entry is {@link
 * io.timewheel.server.settings.Settings}, which looks a setting up in the environment and in the
 * file of properties. {@code SecretFile} reads a file that only its owner may read, {@code
 * WatchedFile} reads it again after a change, {@code ServerConfig} has the address and the limits
 * of a server, {@code WorkLimits} those of its work, {@code Ingress} the way of a request to it,
 * and {@code LogOutput} directs the logs. {@code Limits} has those of queues, hosts and namespaces.
 * {@code TlsFiles} names the certificate and the key that {@code PemFile} reads; {@code Cidr} is a
 * block of addresses.
 */
@NullMarked
package io.timewheel.server.settings;

import org.jspecify.annotations.NullMarked;
