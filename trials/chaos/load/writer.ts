import { setTimeout as delay } from 'node:timers/promises'
import { Ledger } from './ledger.js'

/** One kind of client, which makes one write after the other. */
export interface Writer {
  kind: string
  ledger: Ledger
  /** Makes the next write and records it. Rejects when it was not acknowledged. */
  write(number: number): Promise<void>
  /** Pause between two writes. */
  pauseMs: number
  /** Reads the stored entries in the form of the ledger. */
  read(): Promise<(readonly [key: string, content: string])[]>
}

/** Creates a writer with a new ledger. */
export const createWriter = (
  kind: string,
  pauseMs: number,
  work: (ledger: Ledger) => Pick<Writer, 'write' | 'read'>,
): Writer => {
  const ledger = new Ledger()
  return { kind, ledger, pauseMs, ...work(ledger) }
}

/**
 * Writes until `stopped`. A failed write is not repeated, because it may have been stored, and the next one
 * has another name.
 */
export async function keepWriting({ write, ledger, pauseMs }: Writer, stopped: () => boolean): Promise<void> {
  for (let number = 1; !stopped(); number += 1) {
    await write(number).catch(() => {
      ledger.failed += 1
    })
    await delay(pauseMs)
  }
}
