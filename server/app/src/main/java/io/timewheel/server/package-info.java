// SPDX-License-Identifier: Apache-2.0

/**
 * The Timewheel server: durable timers with an HTTP API. {@link
 * io.timewheel.server.TimewheelServer} wires the parts of the API. The entry of the process is
 * {@code cli.Main}; {@code cli.serve.ServeCommand} opens the store and starts a server.
 *
 * <p>The packages below are in reading order; each depends only on those before it:
 *
 * <ol>
 *   <li>{@code settings}: settings, secrets and logs
 *   <li>{@code trace}: traces of requests and deliveries
 *   <li>{@code webhook}: requests to the URLs of timers
 *   <li>{@code problem}: refusals of requests
 *   <li>{@code json}: JSON documents, parsed strictly into the records of {@code io.timewheel.api}
 *   <li>{@code security}: tokens, callers, roles and the audit log
 *   <li>{@code http}: connections, and the steps of a request
 *   <li>{@code store}: the location of the timers, its copies and its reads
 *   <li>{@code node}: the commits of this process
 *   <li>{@code document}: conversion between the records of the API and the types of the engine
 *   <li>{@code failure}: events about failed timers
 *   <li>{@code event}: streams of changes
 *   <li>{@code resource}: the operations of the API
 *   <li>{@code cli.serve}: the command that runs a server, and its settings
 *   <li>{@code cli}: the other commands
 * </ol>
 *
 * <p>A request passes through its steps in this order:
 *
 * <ol>
 *   <li>accept: {@code http.HttpListener} accepts the connection, {@code http.OriginCheck} the host
 *   <li>authenticate: {@code security.Authenticator} finds the caller
 *   <li>route: {@code http.Router} finds the operation
 *   <li>authorise: {@code security.Authorization} checks the role and the namespace
 *   <li>parse: {@code json.JsonReader} parses the body that {@code http.BodyReader} has read
 *   <li>engine: a class of {@code resource} calls the {@code DurableTimer}
 *   <li>answer: {@code http.Exchange} sends the answer, once
 * </ol>
 *
 * <p>{@code http.RequestPipeline} runs the steps up to the resource.
 */
@NullMarked
package io.timewheel.server;

import org.jspecify.annotations.NullMarked;
