import { setImmediate as eventLoopTurn } from 'node:timers/promises'

const eventsSoFar = () => performance.nodeTiming.uvMetricsInfo.events

/**
 * Waits for a turn of the event loop in which nothing arrives, so that everything that has arrived was read.
 * A socket that is closed with unread bytes or connections is reset, and a proxy may not repeat a POST.
 *
 * @param msMax longest wait, because a process may be busy without a pause
 */
export async function waitForIdleTurn(msMax: number): Promise<void> {
  const deadlineMs = performance.now() + msMax
  let events: number
  do {
    events = eventsSoFar()
    await eventLoopTurn()
  } while (eventsSoFar() !== events && performance.now() < deadlineMs)
}
