import type { Logger } from '../observability/index.js'

type Cleanup = () => Promise<unknown> | unknown

/** Collects resources that must be closed, and closes them in reverse order, each exactly once. */
export class Lifecycle {
  readonly #cleanups: { name: string; close: Cleanup }[] = []
  readonly #logger: Logger
  #closing: Promise<void> | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Registers the closing of a resource; call it on the line after its opening. */
  onClose(name: string, close: Cleanup): void {
    this.#cleanups.push({ name, close })
  }

  /** Closes every resource, newest first. A failure is logged and does not keep the other resources open. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    for (const { name, close } of this.#cleanups.reverse()) {
      try {
        await close()
      } catch (error) {
        this.#logger.error({ err: error, resource: name }, 'could not close')
      }
    }
  }
}
