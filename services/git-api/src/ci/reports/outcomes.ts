import { createHash } from 'node:crypto'
import type { TestStatus } from './entries.js'

/** The outcome of a test. A finding of an analysis has no outcome except that it exists. */
export type Outcome = TestStatus | 'finding'

const outcomes: readonly Outcome[] = ['success', 'failed', 'error', 'skipped', 'finding']
const flakyBit = 0x80

/** Bytes of an entry: eight of the hash of the identity, and one of the outcome. */
const entryBytes = 9

/** Longer texts are hashed only once, because a name of megabytes may belong to thousands of entries. */
const longPartChars = 1_024

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * Packs the outcomes of a report, in its order. They are stored beside the entries, so that a comparison of
 * two reports reads nothing else.
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

/** The outcomes of the entries with one identity. */
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
 * Marks the tests that failed and passed in reports with the same name and commit: within this report, or in
 * this and an earlier one.
 *
 * @param earlier earlier reports; the marks of a report include those of the reports that it replaced
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

/** Returns for each entry of a report, in its order, whether it is marked as flaky. */
export const flakyMarks = (packed: Uint8Array): boolean[] => unpack(packed).map(({ isFlaky }) => isFlaky)

/** Positions of entries in a report. */
export interface Changes {
  /** Tests that the earlier report does not have. */
  added: number[]
  /** Tests that fail now and did not fail in the earlier report. */
  broken: number[]
  /** Tests that fail in both reports. */
  stillFailing: number[]
  /** Tests that failed in the earlier report and pass now. */
  fixed: number[]
  flaky: number[]
  /** Number of entries of the earlier report that this report does not have. */
  gone: number
}

/**
 * Compares a report with the earlier one. @param before null: there is no earlier report, so nothing counts
 * as new or fixed
 */
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
