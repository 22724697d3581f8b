import { setTimeout as delay } from 'node:timers/promises'
import { SolvableProblem } from '@switchyard/terminal'
import { lastFailure } from './log-file.js'
import type { SupervisedProcess } from './supervised-process.js'

const readyTimeoutMs = 60_000
/** Most ends of a server that is waited for. A server that ends so often has a permanent problem. */
const failuresMax = 3

/**
 * Waits until a server answers.
 *
 * @throws SolvableProblem with the reason from its log, when it keeps ending or takes too long
 */
export async function waitForServer(
  title: string,
  child: SupervisedProcess,
  answers: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs
  while (!(await answers())) {
    if (child.failures() > failuresMax || performance.now() > deadline)
      throw new SolvableProblem(
        `${title} did not start: ${lastFailure(child.logFile)} (log: ${child.logFile})`,
      )
    await delay(25)
  }
}
