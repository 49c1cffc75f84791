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

  @Override
  public DatabaseServer sync(boolean sync) {
    return set("innodb-flush-log-at-trx-commit", sync ? 1 : 2);
  }

  @Override
  void initialize() throws IOException, InterruptedException {
    Processes.run(
        directory().resolve("log"),
        List.of(
            install.toString(),
            "--no-defaults",
            "--datadir=" + data(),
            "--auth-root-authentication-method=normal",
            "--skip-test-db"));
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
