import type { Metadata } from '@grpc/grpc-js'
import type { Caller } from './caller.js'

/** Stands for a caller in the metadata of its calls. */
export const callerHeader = 'x-switchyard-caller'

/** The callers whose calls the library serves: it knows only the connections within the process. */
export class MarkedCallers {
  readonly #callers = new Map<string, Caller>()
  #lastMark = 0

  /** @returns the value of `callerHeader` that stands for the caller */
  add(caller: Caller): string {
    this.#lastMark += 1
    const mark = String(this.#lastMark)
    this.#callers.set(mark, caller)
    return mark
  }

  delete(mark: string): void {
    this.#callers.delete(mark)
  }

  /** Takes the mark out of the metadata; undefined when the caller has gone. */
  takeFrom(metadata: Metadata): Caller | undefined {
    const [mark] = metadata.get(callerHeader)
    metadata.remove(callerHeader)
    return this.#callers.get(String(mark))
  }
}
