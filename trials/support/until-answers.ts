import type { ChildProcess } from 'node:child_process'
import { waitFor } from '@switchyard/testing'

/**
 * Waits until a started service answers a request with success.
 *
 * @param path for example `/-/readiness`
 * @throws Error when its process ends before, or after a minute
 */
export async function untilAnswers(service: ChildProcess, port: number, path: string): Promise<void> {
  const hasEnded = () => service.exitCode !== null
  const answers = async () => hasEnded() || (await fetch(`http://127.0.0.1:${port}${path}`)).ok
  await waitFor(answers, { intervalMs: 100, what: `an answer to ${path}` })
  if (hasEnded()) throw new Error('the service has ended before it answered: is everything built?')
}
