// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

class PostgreSqlServer extends DatabaseServer {
  private static final String ADMINISTRATOR = "postgres";

  private final Path initdb;
  private final Path postgres;

  PostgreSqlServer(Path initdb, Path postgres) {
    this.initdb = initdb;
    this.postgres = postgres;
    set("listen_addresses", "127.0.0.1");
    set("unix_socket_directories", "");
  }

  @Override
  public DatabaseServer sync(boolean sync) {
    return set("fsync", sync ? "on" : "off");
  }

  @Override
  void initialize() throws IOException, InterruptedException {
    Path log = directory().resolve("log");
    Templates.copy(initdb, log, data(), copied -> make(log, copied));
  }

  private void make(Path log, Path data) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(initdb.toString(), "--no-sync"));
    command.addAll(List.of("--pgdata=" + data, "--username=" + ADMINISTRATOR));
    command.addAll(List.of("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"));
    Processes.run(log, command);
  }

  @Override
  List<String> command(int port, Map<String, String> settings) {
    List<String> command = new ArrayList<>(List.of(postgres.toString(), "-D", data().toString()));
    command.addAll(List.of("-p", Integer.toString(port)));
    settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
    return command;
  }

  @Override
  String stopSignal() {
    return "INT";
  }

  /** Returns QUIT, on which the server ends together with all its processes. */
  @Override
  String deathSignal() {
    return "QUIT";
  }

  @Override
  public Database administration() {
    return database("postgres", ADMINISTRATOR);
  }

  private Database database(String name, String user) {
    return new Database("jdbc:postgresql://127.0.0.1:" + port() + "/" + name, user, "");
  }

  @Override
  Database create(Statement statement, String name) throws SQLException {
    statement.execute("CREATE ROLE " + name + " LOGIN");
    statement.execute("CREATE DATABASE " + name + " OWNER " + name);
    return database(name, name);
  }
}
