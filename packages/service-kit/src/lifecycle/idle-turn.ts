import { setImmediate as eventLoopTurn } from 'node:timers/promises'

const eventsSoFar = () => performance.nodeTiming.uvMetricsInfo.events

/**
 * Waits for a turn of the event loop in which nothing arrives, so that all that has arrived has been read: a
 * socket that is closed while bytes or connections wait in it is reset, and a proxy may not repeat a POST.
 *
 * @param msMax how long it waits at most, as a process may be busy without a pause
 */
export async function waitForIdleTurn(msMax: number): Promise<void> {
  const deadlineMs = performance.now() + msMax
  let events: number
  do {
    events = eventsSoFar()
    await eventLoopTurn()
  } while (eventsSoFar() !== events && performance.now() < deadlineMs)
}
