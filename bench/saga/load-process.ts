import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type LoadOrder, type LoadResult, runLoad } from './load.js'

if (process.send) {
  process.on('message', async (order: LoadOrder) => {
    process.send?.(await runLoad(order))
  })
}

/** A process that makes load, so that nothing else here is in its way. */
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
