import type { Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'
import { readStorage, type StorageSpace } from './system-state.js'

/** Figures of the file system of the repositories; they are left out while it does not answer. */
export function exposeStorage({ registry }: Metrics, storageRoot: string): void {
  const expose = (name: string, help: string, read: (space: StorageSpace) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const space = await readStorage(storageRoot)
        if (space) this.set(read(space))
        else this.remove()
      },
    })
  expose('git_api_storage_free_bytes', 'Space that is left for repositories.', (space) => space.freeBytes)
  expose(
    'git_api_storage_size_bytes',
    'Size of the file system of repositories.',
    (space) => space.totalBytes,
  )
}
