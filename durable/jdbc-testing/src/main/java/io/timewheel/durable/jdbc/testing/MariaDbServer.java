// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class MariaDbServer extends DatabaseServer {
  private final Path install;
  private final Path mariadbd;

  MariaDbServer(Path install, Path mariadbd) {
    this.install = install;
    this.mariadbd = mariadbd;
    set("bind-address", "127.0.0.1");
    set("skip-name-resolve", "ON");
  }

  /** Without synchronization, the server does not wait for the disk when it creates a table. */
  @Override
  public DatabaseServer sync(boolean sync) {
    set("innodb-flush-log-at-trx-commit", sync ? 1 : 2);
    set("innodb-flush-method", sync ? "O_DIRECT" : "nosync");
    return set("debug-no-sync", sync ? "OFF" : "ON");
  }

  @Override
  void initialize() throws IOException, InterruptedException {
    Path log = directory().resolve("log");
    Templates.copy(install, log, data(), copied -> make(log, copied));
  }

  private void make(Path log, Path data) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(install.toString(), "--no-defaults"));
    command.add("--datadir=" + data);
    command.addAll(List.of("--auth-root-authentication-method=normal", "--skip-test-db"));
    Processes.run(log, command);
  }

  @Override
  List<String> command(int port, Map<String, String> settings) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(mariadbd.toString(), "--no-defaults", "--datadir=" + data()));
    // Relative to the data directory, because the path of a socket must be short.
    command.addAll(List.of("--port=" + port, "--socket=socket", "--pid-file=pid"));
    settings.forEach((name, value) -> command.add("--" + name + "=" + value));
    return command;
  }

  @Override
  String stopSignal() {
    return "TERM";
  }

  @Override
  String deathSignal() {
    return "KILL";
  }

  @Override
  public Database administration() {
    return database("mysql", "root", "");
  }

  private Database database(String name, String user, String password) {
    String url = "jdbc:mariadb://127.0.0.1:" + port() + "/" + name;
    return new Database(url, user, password).with("sslMode", "disable");
  }

  @Override
  Database create(Statement statement, String name) throws SQLException {
    statement.execute("CREATE DATABASE " + name + " CHARACTER SET utf8mb4");
    statement.execute("CREATE USER " + name + "@'%' IDENTIFIED BY '" + name + "'");
    statement.execute("GRANT ALL ON " + name + ".* TO " + name + "@'%'");
    return database(name, name, name);
  }
}
