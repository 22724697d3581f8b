import { setTimeout as delay } from 'node:timers/promises'
import { SolvableProblem } from '@switchyard/terminal'
import { lastFailure } from './log-file.js'
import type { SupervisedProcess } from './supervised-process.js'

const readyTimeoutMs = 60_000
/** One that ends so often does so for a reason that stays. */
const failuresMax = 3

/**
 * Waits until a server answers.
 *
 * @throws SolvableProblem with the reason of its log, when it keeps ending or takes too long
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
