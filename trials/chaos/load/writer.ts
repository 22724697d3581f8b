import { setTimeout as delay } from 'node:timers/promises'
import { Ledger } from './ledger.js'

/** One kind of client, which writes one thing after the other. */
export interface Writer {
  kind: string
  ledger: Ledger
  /** Writes the next thing and notes it. Rejects when it was not acknowledged. */
  write(number: number): Promise<void>
  /** Between two writes. */
  pauseMs: number
  /** What is stored, in the shape of the ledger. */
  read(): Promise<(readonly [key: string, content: string])[]>
}

/** A writer with a new ledger. */
export const createWriter = (
  kind: string,
  pauseMs: number,
  work: (ledger: Ledger) => Pick<Writer, 'write' | 'read'>,
): Writer => {
  const ledger = new Ledger()
  return { kind, ledger, pauseMs, ...work(ledger) }
}

/**
 * Writes until `stopped`. What fails is not tried again: it may have been stored, and the next thing has
 * another name.
 */
export async function keepWriting({ write, ledger, pauseMs }: Writer, stopped: () => boolean): Promise<void> {
  for (let number = 1; !stopped(); number += 1) {
    await write(number).catch(() => {
      ledger.failed += 1
    })
    await delay(pauseMs)
  }
}
