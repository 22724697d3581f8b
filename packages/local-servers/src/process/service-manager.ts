import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The notices to systemd about a service of `Type=notify`. Without systemd they do nothing. */
export interface ServiceManager {
  /**
   * Reports that everything is ready. From then on, reports as often as `WatchdogSec` requires that this
   * process still works.
   */
  ready(): void
  /** Reports that the service stops. */
  stopping(): void
}

/**
 * Returns the service manager of this process. Node has no datagrams over unix sockets, so systemd's own
 * `systemd-notify` sends them.
 *
 * @param env has `NOTIFY_SOCKET` when systemd started this process, and `WATCHDOG_USEC` when systemd watches
 * it
 * @param notice receives one line when a notice cannot be sent
 */
export function serviceManagerOf(env: NodeJS.ProcessEnv, notice: (line: string) => void): ServiceManager {
  if (!env.NOTIFY_SOCKET) return { ready() {}, stopping() {} }
  let isTold = true
  const notify = async (state: string) => {
    try {
      await run('systemd-notify', [state], { env })
    } catch (error) {
      if (isTold) notice(`systemd cannot be told how this service is: ${(error as Error).message.trim()}`)
      isTold = false
    }
  }
  const watchdogMs = Number(env.WATCHDOG_USEC ?? 0) / 1000
  let timer: NodeJS.Timeout | undefined
  return {
    ready() {
      void notify('READY=1')
      // systemd restarts a process without a notice for `WatchdogSec`; half of that leaves room for a late
      // message. While the event loop is blocked, no timer fires, and nothing is sent.
      if (watchdogMs > 0) timer = setInterval(() => void notify('WATCHDOG=1'), watchdogMs / 2).unref()
    },
    stopping() {
      clearInterval(timer)
      void notify('STOPPING=1')
    },
  }
}
