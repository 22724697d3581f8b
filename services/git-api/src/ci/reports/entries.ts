import { invalidParameters, tooLarge } from '@switchyard/domain'

/** GitLab's states of a test. */
export type TestStatus = 'success' | 'failed' | 'error' | 'skipped'

/** A test, as JUnit XML has it. */
export interface TestCase {
  suite: string
  classname: string
  name: string
  file: string | null
  status: TestStatus
  /** Seconds. */
  time: number
  /** Why it failed, or was skipped. */
  message: string | null
  /** Such as the stack of the failure. */
  details: string | null
}

export type FindingLevel = 'error' | 'warning' | 'note' | 'none'

/** A result of an analysis, as SARIF has it. */
export interface Finding {
  tool: string
  rule: string | null
  level: FindingLevel
  message: string
  /** From the root of the repository; null: it is not of a file in it. */
  path: string | null
  line: number | null
  end_line: number | null
}

export type ReportFormat = 'junit' | 'sarif'

export interface TestCounts {
  total: number
  success: number
  failed: number
  error: number
  skipped: number
  /** Seconds. */
  time: number
}

/** The sum of times, without the digits by which adding fractions of two misses one of ten. */
export const addSeconds = (one: number, other: number): number => Number((one + other).toFixed(9))

export type FindingCounts = Record<'total' | FindingLevel, number>

/** What a report has, in the order of the report. */
export type ParsedReport =
  | { format: 'junit'; tests: TestCounts; findings: null; outcomes: Uint8Array; entries: Uint8Array }
  | { format: 'sarif'; tests: null; findings: FindingCounts; outcomes: Uint8Array; entries: Uint8Array }

export const entriesMax = 20_000

/** Characters of a name, a path or the kind of a rule that are kept. Two names are compared as a whole. */
export const nameCharsMax = 1_024
export const messageCharsMax = 2_000
export const detailsCharsMax = 8_000
/** Characters of all names and messages together. */
const textCharsMax = 5_000_000
/** Characters of all details together; those of further tests are left out. */
const allDetailsCharsMax = 1_000_000

/** Counts what a report has, and refuses one that has too much. */
export function createBudget(what: string) {
  let [entries, chars, detailsChars] = [0, 0, 0]
  return {
    /** @throws DomainError too-large */
    entry(): void {
      entries += 1
      if (entries > entriesMax) throw tooLarge(`the report has more than ${entriesMax} ${what}`)
    },
    /** @throws DomainError too-large */
    texts(...texts: (string | null)[]): void {
      for (const text of texts) chars += text?.length ?? 0
      if (chars > textCharsMax)
        throw tooLarge(`the names and messages of the report have more than ${textCharsMax} characters`)
    },
    details(text: string | null): string | null {
      detailsChars += text?.length ?? 0
      return detailsChars > allDetailsCharsMax ? null : text
    },
  }
}

/** The beginning of a text, without half of a character. */
export const cut = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`

export const unreadable = (problem: string) => invalidParameters([`the report ${problem}`])

/**
 * The text of a report in UTF-8, or in UTF-16 with a byte order mark.
 *
 * @throws DomainError invalid-parameters
 */
export function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  const utf16 =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null
  try {
    return new TextDecoder(utf16 ?? 'utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unreadable('is no text in UTF-8')
  }
}
