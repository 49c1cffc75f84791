// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.timewheel.dropin.DropInTaskClassContract;

class TaskClassTest extends DropInTaskClassContract<Timer, Timeout, TimerTask> implements OnNetty {}
