// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The members of a class file. {@link #problem} compares them with those of the timer of Netty and
 * Dubbo, and so also recognises copies in other packages.
 */
final class Shape {
  /** The suffix of the name of the worker class, in Netty, Dubbo and their copies. */
  static final String WORKER = "$Worker";

  static final String TIMEOUT = "$HashedWheelTimeout";

  static final String OBJECT = "java/lang/Object";

  private static final String QUEUE = "Ljava/util/Queue;";

  final String name;
  final String superName;
  private final List<String> interfaces;
  private final Map<String, String> fields = new HashMap<>();
  private final Map<String, Object> constants = new HashMap<>();

  /** The name and descriptor of each method. */
  private final Set<String> methods = new HashSet<>();

  /** True if {@code expire()} itself decrements the count of pending timeouts. */
  private boolean expireRemoves;

  /**
   * The descriptor of {@code TimerTask.cancelled}; null if this class does not call that method, as
   * before Netty 4.2.
   */
  private @Nullable String cancelledDescriptor;

  private Shape(ClassReader reader) {
    name = reader.getClassName();
    superName = reader.getSuperName();
    interfaces = List.of(reader.getInterfaces());
  }

  static Shape of(byte[] classFile) {
    ClassReader reader = new ClassReader(classFile);
    Shape shape = new Shape(reader);
    reader.accept(shape.new Members(), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return shape;
  }

  /**
   * Compares three classes with the shape that {@link Weaver} can change.
   *
   * @return the first difference; null if there is none
   */
  static @Nullable String problem(Shape timer, Shape worker, Shape timeout) {
    String timerType = "L" + timer.name + ";";
    String[][] fields = {
      {"worker", "L" + worker.name + ";"},
      {"workerThread", "Ljava/lang/Thread;"},
      {"workerState", "I"},
      {"tickDuration", "J"},
      {"mask", "I"},
      {"timeouts", QUEUE},
      {"cancelledTimeouts", QUEUE},
      {"startTime", "J"},
      {"startTimeInitialized", "Ljava/util/concurrent/CountDownLatch;"},
    };
    for (String[] field : fields) {
      if (!timer.hasField(field[0], field[1])) {
        return timer.lacks("field " + field[0]);
      }
    }
    Object[][] states = {
      {"WORKER_STATE_INIT", 0}, {"WORKER_STATE_STARTED", 1}, {"WORKER_STATE_SHUTDOWN", 2}
    };
    for (Object[] state : states) {
      if (!state[1].equals(timer.constants.get(state[0]))) {
        return timer.lacks("constant " + state[0] + " = " + state[1]);
      }
    }
    for (String method : List.of("start()V", "stop()Ljava/util/Set;")) {
      if (!timer.methods.contains(method)) {
        return timer.lacks("method " + method);
      }
    }
    if (!worker.interfaces.contains("java/lang/Runnable")
        || !worker.methods.contains("run()V")
        || !worker.hasField("unprocessedTimeouts", "Ljava/util/Set;")
        || worker.fieldOfType(timerType) == null) {
      return worker.lacks("loop of a worker");
    }
    if (!timeout.hasField("timer", timerType)
        || !timeout.hasField("deadline", "J")
        || timeout.taskType() == null) {
      return timeout.lacks("field timer, deadline or task");
    }
    for (String method :
        List.of("expire()V", "cancel()Z", "isCancelled()Z", "compareAndSetState(II)Z")) {
      if (!timeout.methods.contains(method)) {
        return timeout.lacks("method " + method);
      }
    }
    Object[][] ends = {
      {"ST_CANCELLED", TimeoutSeam.ST_CANCELLED}, {"ST_EXPIRED", TimeoutSeam.ST_EXPIRED}
    };
    for (Object[] end : ends) {
      if (!end[1].equals(timeout.constants.get(end[0]))) {
        return timeout.lacks("constant " + end[0] + " = " + end[1]);
      }
    }
    if (!timer.superName.equals(OBJECT)) {
      return timer.name.replace('/', '.') + " has a superclass";
    }
    return null;
  }

  private String lacks(String member) {
    return name.replace('/', '.') + " has no " + member;
  }

  boolean hasField(String field, String type) {
    return type.equals(fields.get(field));
  }

  @Nullable String fieldOfType(String type) {
    for (Map.Entry<String, String> field : fields.entrySet()) {
      if (field.getValue().equals(type)) {
        return field.getKey();
      }
    }
    return null;
  }

  boolean hasMethod(String nameAndDescriptor) {
    return methods.contains(nameAndDescriptor);
  }

  boolean expireRemoves() {
    return expireRemoves;
  }

  @Nullable String cancelledDescriptor() {
    return cancelledDescriptor;
  }

  /** Returns the descriptor of the type of a timeout's task. */
  @Nullable String taskType() {
    return fields.get("task");
  }

  /** Returns whether an agent has changed this timer class. */
  boolean isWoven() {
    return fields.containsKey("timewheel");
  }

  private final class Members extends ClassVisitor {
    Members() {
      super(Opcodes.ASM9);
    }

    @Override
    public @Nullable FieldVisitor visitField(
        int access, String field, String type, @Nullable String generic, @Nullable Object value) {
      fields.put(field, type);
      if (value != null) {
        constants.put(field, value);
      }
      return null;
    }

    @Override
    public @Nullable MethodVisitor visitMethod(
        int access,
        String method,
        String descriptor,
        @Nullable String generic,
        String @Nullable [] exceptions) {
      methods.add(method + descriptor);
      if (!method.equals("expire") && !method.equals("removeAfterCancellation")) {
        return null;
      }
      return new MethodVisitor(Opcodes.ASM9) {
        @Override
        public void visitMethodInsn(
            int opcode, String owner, String called, String descriptor, boolean isInterface) {
          if (called.equals("cancelled")) {
            cancelledDescriptor = descriptor;
          }
          expireRemoves |= method.equals("expire") && called.equals("remove") && owner.equals(name);
        }
      };
    }
  }
}
