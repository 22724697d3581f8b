import type { ChainableCommander } from 'ioredis'

/**
 * Sends a pipeline and returns its answers in order.
 *
 * @throws Error of the first command that failed: figures with holes would be wrong figures
 */
export async function answersOf(pipeline: ChainableCommander): Promise<unknown[]> {
  const results = (await pipeline.exec()) ?? []
  return results.map(([error, answer]) => {
    if (error) throw error
    return answer
  })
}
