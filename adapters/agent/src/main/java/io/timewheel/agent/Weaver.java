// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.SimpleRemapper;

/**
 * Changes the class files of one timer and its two nested classes, after {@link Shape#problem} has
 * checked them. It copies the members of the seams, and inserts one call into each of these
 * methods:
 *
 * <pre>
 *   timer     constructor           at the end    timewheelAttach()
 *             stop()                at the start  timewheelStop()
 *   worker    run()                 at the start  if (timer.timewheelRun()) return;
 *   timeout   compareAndSetState()  at the end    timewheelSettled(changed, state)
 * </pre>
 */
final class Weaver {
  private static final String TIMER_SEAM = Type.getInternalName(TimerSeam.class);
  private static final String WORKER_SEAM = Type.getInternalName(WorkerSeam.class);
  private static final String TIMEOUT_SEAM = Type.getInternalName(TimeoutSeam.class);

  private final Shape timer;
  private final Shape worker;
  private final Shape timeout;

  Weaver(Shape timer, Shape worker, Shape timeout) {
    this.timer = timer;
    this.worker = worker;
    this.timeout = timeout;
  }

  byte[] timer(byte[] classFile) {
    return weave(classFile, timer, TimerSeam.class, TimerVisitor::new);
  }

  byte[] worker(byte[] classFile) {
    return weave(classFile, worker, WorkerSeam.class, WorkerVisitor::new);
  }

  byte[] timeout(byte[] classFile) {
    return weave(classFile, timeout, TimeoutSeam.class, TimeoutVisitor::new);
  }

  private interface Visitors {
    ClassVisitor on(ClassVisitor next);
  }

  private byte[] weave(byte[] classFile, Shape shape, Class<?> seam, Visitors visitors) {
    ClassReader reader = new ClassReader(classFile);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    ClassVisitor adding =
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public void visitEnd() {
            copySeam(seam, shape, writer);
            super.visitEnd();
          }
        };
    reader.accept(visitors.on(adding), 0);
    return writer.toByteArray();
  }

  // The seams

  private void copySeam(Class<?> seam, Shape target, ClassWriter writer) {
    SimpleRemapper names =
        new SimpleRemapper(
            Opcodes.ASM9,
            Map.of(TIMER_SEAM, timer.name, WORKER_SEAM, worker.name, TIMEOUT_SEAM, timeout.name));
    ClassVisitor renamed = new ClassRemapper(writer, names);
    new ClassReader(read(seam)).accept(new WovenMembers(renamed, target), ClassReader.SKIP_DEBUG);
  }

  private static byte[] read(Class<?> seam) {
    String resource = "/" + Type.getInternalName(seam) + ".class";
    try (InputStream in = requireNonNull(Weaver.class.getResourceAsStream(resource), resource)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Copies the members that are marked {@link Woven}, unless the target already has them. */
  private static final class WovenMembers extends ClassVisitor {
    private static final String WOVEN = Type.getDescriptor(Woven.class);
    private final ClassVisitor target;
    private final Shape shape;

    WovenMembers(ClassVisitor target, Shape shape) {
      super(Opcodes.ASM9);
      this.target = target;
      this.shape = shape;
    }

    @Override
    public FieldVisitor visitField(
        int access, String name, String type, @Nullable String generic, @Nullable Object value) {
      return new FieldVisitor(Opcodes.ASM9) {
        @Override
        public @Nullable AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
          if (annotation.equals(WOVEN)) {
            target
                .visitField(
                    access | Opcodes.ACC_SYNTHETIC | Opcodes.ACC_TRANSIENT, name, type, null, null)
                .visitEnd();
          }
          return null;
        }
      };
    }

    @Override
    public @Nullable MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String generic,
        String @Nullable [] exceptions) {
      if (shape.hasMethod(name + descriptor)) {
        return null;
      }
      return new MethodVisitor(Opcodes.ASM9) {
        /**
         * ASM visits annotations before the code, so this visitor can still start to forward the
         * method.
         */
        @Override
        public @Nullable AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
          if (annotation.equals(WOVEN)) {
            mv = target.visitMethod(access, name, descriptor, null, exceptions);
          }
          return null;
        }
      };
    }
  }

  // The insertions

  private final class TimerVisitor extends ClassVisitor {
    TimerVisitor(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    /**
     * Removes {@code final} from the two queues, because {@code timewheelAttach()} replaces them.
     */
    @Override
    public FieldVisitor visitField(
        int access, String name, String type, @Nullable String generic, @Nullable Object value) {
      boolean isQueue = name.equals("timeouts") || name.equals("cancelledTimeouts");
      int open = isQueue ? access & ~Opcodes.ACC_FINAL : access;
      return super.visitField(open, name, type, generic, value);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String generic,
        String @Nullable [] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, generic, exceptions);
      if (name.equals("<init>")) {
        return new ConstructorVisitor(next);
      }
      if ((name + descriptor).equals("stop()Ljava/util/Set;")) {
        return new MethodVisitor(Opcodes.ASM9, next) {
          @Override
          public void visitCode() {
            super.visitCode();
            visitVarInsn(Opcodes.ALOAD, 0);
            visitMethodInsn(Opcodes.INVOKESPECIAL, timer.name, "timewheelStop", "()V", false);
          }
        };
      }
      return next;
    }

    @Override
    public void visitEnd() {
      String type = "Ljava/util/concurrent/atomic/AtomicLong;";
      MethodVisitor pending = cv.visitMethod(0, "timewheelPending", "()" + type, null, null);
      pending.visitCode();
      if (timer.hasField("pendingTimeouts", type)) {
        pending.visitVarInsn(Opcodes.ALOAD, 0);
        pending.visitFieldInsn(Opcodes.GETFIELD, timer.name, "pendingTimeouts", type);
      } else {
        pending.visitInsn(Opcodes.ACONST_NULL);
      }
      pending.visitInsn(Opcodes.ARETURN);
      pending.visitMaxs(0, 0);
      pending.visitEnd();
      super.visitEnd();
    }
  }

  /**
   * Attaches the engine at the end of each constructor that does not call another constructor of
   * its class.
   */
  private final class ConstructorVisitor extends MethodVisitor {
    private boolean delegates;

    ConstructorVisitor(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
      delegates |= name.equals("<init>") && owner.equals(timer.name);
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode == Opcodes.RETURN && !delegates) {
        visitVarInsn(Opcodes.ALOAD, 0);
        visitMethodInsn(Opcodes.INVOKESPECIAL, timer.name, "timewheelAttach", "()V", false);
      }
      super.visitInsn(opcode);
    }
  }

  private final class WorkerVisitor extends ClassVisitor {
    WorkerVisitor(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String generic,
        String @Nullable [] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, generic, exceptions);
      if (!(name + descriptor).equals("run()V")) {
        return next;
      }
      return new MethodVisitor(Opcodes.ASM9, next) {
        @Override
        public void visitCode() {
          super.visitCode();
          String timerType = "L" + timer.name + ";";
          Label own = new Label();
          visitVarInsn(Opcodes.ALOAD, 0);
          visitFieldInsn(
              Opcodes.GETFIELD,
              worker.name,
              requireNonNull(worker.fieldOfType(timerType)),
              timerType);
          visitMethodInsn(Opcodes.INVOKEVIRTUAL, timer.name, "timewheelRun", "()Z", false);
          visitJumpInsn(Opcodes.IFEQ, own);
          visitInsn(Opcodes.RETURN);
          visitLabel(own);
          visitFrame(Opcodes.F_SAME, 0, null, 0, null);
          // The NOP separates this frame from the next. The method may begin with the frame of a
          // loop, and two frames must not have the same offset.
          visitInsn(Opcodes.NOP);
        }
      };
    }
  }

  private final class TimeoutVisitor extends ClassVisitor {
    TimeoutVisitor(ClassVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String generic,
        String superName,
        String[] interfaces) {
      String[] added = new ClassReader(read(TimeoutSeam.class)).getInterfaces();
      String[] all = new String[interfaces.length + added.length];
      System.arraycopy(interfaces, 0, all, 0, interfaces.length);
      System.arraycopy(added, 0, all, interfaces.length, added.length);
      // Drop the generic signature, which would lack the added interfaces. No code reads the
      // signature of this private class.
      super.visit(version, access, name, null, superName, all);
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String generic,
        String @Nullable [] exceptions) {
      MethodVisitor next = super.visitMethod(access, name, descriptor, generic, exceptions);
      if (!(name + descriptor).equals("compareAndSetState(II)Z")) {
        return next;
      }
      return new MethodVisitor(Opcodes.ASM9, next) {
        @Override
        public void visitInsn(int opcode) {
          if (opcode == Opcodes.IRETURN) {
            visitVarInsn(Opcodes.ALOAD, 0);
            visitInsn(Opcodes.SWAP);
            visitVarInsn(Opcodes.ILOAD, 2);
            visitMethodInsn(
                Opcodes.INVOKESPECIAL, timeout.name, "timewheelSettled", "(ZI)Z", false);
          }
          super.visitInsn(opcode);
        }
      };
    }

    @Override
    public void visitEnd() {
      String taskType = requireNonNull(timeout.taskType());
      String cancelled = timeout.cancelledDescriptor();
      generate(
          "timewheelExpiring",
          method -> {
            if (!timeout.expireRemoves()) {
              getField(method, "timer", "L" + timer.name + ";");
              method.visitMethodInsn(
                  Opcodes.INVOKEVIRTUAL, timer.name, "timewheelNotPending", "()V", false);
            }
            method.visitInsn(Opcodes.RETURN);
          });
      generate(
          "timewheelCancelled",
          method -> {
            if (cancelled != null) {
              getField(method, "task", taskType);
              method.visitVarInsn(Opcodes.ALOAD, 0);
              String owner = Type.getType(taskType).getInternalName();
              method.visitMethodInsn(Opcodes.INVOKEINTERFACE, owner, "cancelled", cancelled, true);
            }
            method.visitInsn(Opcodes.RETURN);
          });
      generate(
          "get",
          method -> {
            getField(method, "task", taskType);
            method.visitInsn(Opcodes.ARETURN);
          });
      super.visitEnd();
    }

    private void getField(MethodVisitor method, String name, String type) {
      method.visitVarInsn(Opcodes.ALOAD, 0);
      method.visitFieldInsn(Opcodes.GETFIELD, timeout.name, name, type);
    }

    /** Adds a public method. {@code get} returns an object, the others nothing. */
    private void generate(String name, Consumer<MethodVisitor> body) {
      String descriptor = name.equals("get") ? "()Ljava/lang/Object;" : "()V";
      MethodVisitor method = cv.visitMethod(Opcodes.ACC_PUBLIC, name, descriptor, null, null);
      method.visitCode();
      body.accept(method);
      method.visitMaxs(0, 0);
      method.visitEnd();
    }
  }
}
