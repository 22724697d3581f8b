import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

const kept = 3

/** Renames `x.log` to `x.log.1`, `x.log.1` to `x.log.2` and so on, so that each start writes a new file. */
export function rotateLog(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  for (let index = kept; index >= 1; index--) {
    const older = index === 1 ? file : `${file}.${index - 1}`
    if (existsSync(older)) renameSync(older, `${file}.${index}`)
  }
}

/** Opens a log for appending. Child processes write to the descriptor directly. */
export function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return openSync(file, 'a', 0o600)
}

/** Returns the non-empty lines in the last 8 kB of a log. */
function tailLog(file: string): string[] {
  if (!existsSync(file)) return []
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(8192)
    const start = Math.max(fstatSync(descriptor).size - buffer.length, 0)
    const length = readSync(descriptor, buffer, 0, buffer.length, start)
    const text = buffer.toString('utf8', 0, length)
    return text.split('\n').filter((line) => line.trim() !== '')
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Returns the reason why a process ended, from its log: the message of the last fatal line, otherwise the
 * last line, cut at 300 characters.
 */
export function lastFailure(file: string): string {
  const lines = tailLog(file)
  const reason =
    lines.findLast((line) => line.includes('"level":"fatal"')) ?? lines.at(-1) ?? 'it wrote no log'
  return messageOf(reason).trim().slice(0, 300)
}

/** Returns the message of a line. Services write JSON lines, PostgreSQL and Redis write plain text. */
function messageOf(line: string): string {
  try {
    const { err, msg } = JSON.parse(line) as { err?: { message?: string }; msg?: string }
    return err?.message ?? msg ?? line
  } catch {
    return line
  }
}
