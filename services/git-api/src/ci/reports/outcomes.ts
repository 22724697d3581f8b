import { createHash } from 'node:crypto'
import type { TestStatus } from './entries.js'

/** What became of a test; a finding of an analysis is there, and has no other state. */
export type Outcome = TestStatus | 'finding'

const outcomes: readonly Outcome[] = ['success', 'failed', 'error', 'skipped', 'finding']
const flakyBit = 0x80

/** Eight bytes of the hash of the identity, and one of the outcome. */
const entryBytes = 9

/** Each text that is longer is hashed once: a name of megabytes may belong to thousands of entries. */
const longPartChars = 1_024

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * The outcomes of a report, in its order, as they are stored beside its entries: comparing two reports reads
 * nothing else.
 */
export function packOutcomes(
  entries: readonly { identity: readonly string[]; outcome: Outcome }[],
): Uint8Array {
  const packed = Buffer.alloc(entries.length * entryBytes)
  const hashes = new Map<string, string>()
  function hashOf(part: string): string {
    const hash = hashes.get(part) ?? sha256(part).toString('base64')
    hashes.set(part, hash)
    return hash
  }
  for (const [index, { identity, outcome }] of entries.entries()) {
    sha256(JSON.stringify(identity.map((part) => (part.length > longPartChars ? hashOf(part) : part)))).copy(
      packed,
      index * entryBytes,
      0,
      8,
    )
    packed[index * entryBytes + 8] = outcomes.indexOf(outcome)
  }
  return packed
}

interface Entry {
  key: bigint
  outcome: Outcome
  isFlaky: boolean
}

function unpack(packed: Uint8Array): Entry[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  return Array.from({ length: Math.floor(bytes.length / entryBytes) }, (_, index) => {
    const flags = bytes[index * entryBytes + 8] ?? 0
    return {
      key: bytes.readBigUInt64LE(index * entryBytes),
      outcome: outcomes[flags & ~flakyBit] ?? 'skipped',
      isFlaky: (flags & flakyBit) !== 0,
    }
  })
}

const fails = (outcome: Outcome) => outcome === 'failed' || outcome === 'error'

/** What the entries of one identity come to. */
interface Seen {
  passed: boolean
  failed: boolean
  isFlaky: boolean
}

function seenIn(packed: Iterable<Uint8Array>): Map<bigint, Seen> {
  const seen = new Map<bigint, Seen>()
  for (const report of packed) {
    for (const { key, outcome, isFlaky } of unpack(report)) {
      const before = seen.get(key) ?? { passed: false, failed: false, isFlaky: false }
      seen.set(key, {
        passed: before.passed || outcome === 'success',
        failed: before.failed || fails(outcome),
        isFlaky: before.isFlaky || isFlaky,
      })
    }
  }
  return seen
}

/**
 * Marks the tests that failed and passed in reports of one name and commit: in this one, or in this and an
 * earlier one.
 *
 * @param earlier reports, of which those that were replaced live on in the marks of those that replaced them
 */
export function markFlaky(packed: Uint8Array, earlier: readonly Uint8Array[]): Uint8Array {
  const seen = seenIn([packed, ...earlier])
  const marked = Buffer.from(packed)
  for (const [index, { key }] of unpack(packed).entries()) {
    const { passed, failed, isFlaky } = seen.get(key) as Seen
    if (isFlaky || (passed && failed))
      marked[index * entryBytes + 8] = (marked[index * entryBytes + 8] ?? 0) | flakyBit
  }
  return marked
}

/** Whether each entry of a report is marked as flaky, in its order. */
export const flakyMarks = (packed: Uint8Array): boolean[] => unpack(packed).map(({ isFlaky }) => isFlaky)

/** Positions of entries in a report. */
export interface Changes {
  /** Not in the report before. */
  added: number[]
  /** Fail, and did not in the report before. */
  broken: number[]
  /** Fail as in the report before. */
  stillFailing: number[]
  /** Failed in the report before and pass now. */
  fixed: number[]
  flaky: number[]
  /** Entries of the report before that are gone. */
  gone: number
}

/** Compares a report with the one before. @param before null: there is none, so nothing is new or fixed */
export function compareOutcomes(packed: Uint8Array, before: Uint8Array | null): Changes {
  const entries = unpack(packed)
  const old = seenIn(before ? [before] : [])
  const positions = (fits: (entry: Entry, was: Seen | undefined) => boolean | undefined) =>
    entries.flatMap((entry, index) => (fits(entry, old.get(entry.key)) ? [index] : []))
  const now = new Set(entries.map(({ key }) => key))
  return {
    added: before ? positions((_entry, was) => !was) : [],
    broken: positions(({ outcome }, was) => fails(outcome) && !was?.failed),
    stillFailing: positions(({ outcome }, was) => fails(outcome) && was?.failed),
    fixed: positions(({ outcome }, was) => outcome === 'success' && was?.failed && !was.passed),
    flaky: positions(({ isFlaky }) => isFlaky),
    gone: [...old.keys()].filter((key) => !now.has(key)).length,
  }
}
