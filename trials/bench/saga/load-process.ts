import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { runBatchLoad } from './batch-load.js'
import type { LoadOrder, LoadResult } from './load-types.js'
import { runSingleLoad } from './single-load.js'

if (process.send) {
  process.on('message', async (order: LoadOrder) => {
    process.send?.(await (order.batchEvents === undefined ? runSingleLoad(order) : runBatchLoad(order)))
  })
}

/** A process that only generates load. */
export class LoadProcess {
  readonly #child: ChildProcess = fork(fileURLToPath(import.meta.url))

  run(order: LoadOrder): Promise<LoadResult> {
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error('the load ended early'))
      this.#child.once('exit', onExit)
      this.#child.once('message', (result: LoadResult) => {
        this.#child.off('exit', onExit)
        resolve(result)
      })
      this.#child.send(order)
    })
  }

  close(): void {
    this.#child.kill()
  }
}
