import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What systemd hears of a service of `Type=notify`. Without systemd nothing happens. */
export interface ServiceManager {
  /**
   * Says that everything is ready, and from then on, as often as `WatchdogSec` asks for, that this process
   * still does its work.
   */
  ready(): void
  /** Says that the service stops. */
  stopping(): void
}

/**
 * Node has no datagrams over unix sockets, so systemd's own `systemd-notify` sends them.
 *
 * @param env has `NOTIFY_SOCKET` where systemd started this process, and `WATCHDOG_USEC` where it watches it
 * @param notice is told once when systemd cannot be told
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
      // systemd restarts a process that it hears nothing of for `WatchdogSec`; half of that leaves room for a
      // late message. While the event loop is blocked, no timer fires, and nothing is sent.
      if (watchdogMs > 0) timer = setInterval(() => void notify('WATCHDOG=1'), watchdogMs / 2).unref()
    },
    stopping() {
      clearInterval(timer)
      void notify('STOPPING=1')
    },
  }
}
