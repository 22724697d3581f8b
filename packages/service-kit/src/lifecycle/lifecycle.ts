import type { Logger } from '../observability/index.js'

type Cleanup = () => Promise<unknown> | unknown

/** The resources that must be closed. Closes them in reverse order, each exactly once. */
export class Lifecycle {
  readonly #cleanups: { name: string; close: Cleanup }[] = []
  readonly #logger: Logger
  #closing: Promise<void> | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Registers the cleanup of a resource; call it on the line after the resource is opened. */
  onClose(name: string, close: Cleanup): void {
    this.#cleanups.push({ name, close })
  }

  /**
   * Closes every resource, newest first. A failure is logged, and the other resources are closed
   * nevertheless.
   */
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
