// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import io.timewheel.dropin.DropInRealTimeContract;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.Timer;
import org.apache.dubbo.common.timer.TimerTask;

class RealTimeTest extends DropInRealTimeContract<Timer, Timeout, TimerTask> implements OnDubbo {}
