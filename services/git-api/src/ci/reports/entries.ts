import { invalidParameters, tooLarge } from '@switchyard/domain'

/** GitLab's states of a test. */
export type TestStatus = 'success' | 'failed' | 'error' | 'skipped'

/** A test of a report in JUnit XML. */
export interface TestCase {
  suite: string
  classname: string
  name: string
  file: string | null
  status: TestStatus
  /** In seconds. */
  time: number
  /** The reason of the failure or of the skip. */
  message: string | null
  /** Further text, such as the stack trace of the failure. */
  details: string | null
}

export type FindingLevel = 'error' | 'warning' | 'note' | 'none'

/** A result of an analysis in a SARIF report. */
export interface Finding {
  tool: string
  rule: string | null
  level: FindingLevel
  message: string
  /** Path from the root of the repository; null: the result is not about a file in the repository. */
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
  /** In seconds. */
  time: number
}

/** Adds times and rounds them, because sums of binary fractions are not exact. */
export const addSeconds = (one: number, other: number): number => Number((one + other).toFixed(9))

export type FindingCounts = Record<'total' | FindingLevel, number>

/** The contents of a report, in the order of the report. */
export type ParsedReport =
  | { format: 'junit'; tests: TestCounts; findings: null; outcomes: Uint8Array; entries: Uint8Array }
  | { format: 'sarif'; tests: null; findings: FindingCounts; outcomes: Uint8Array; entries: Uint8Array }

export const entriesMax = 20_000

/**
 * Most characters that are kept of a name, a path or the kind of a rule. Names are compared in full length.
 */
export const nameCharsMax = 1_024
export const messageCharsMax = 2_000
export const detailsCharsMax = 8_000
/** Most characters of all names and messages together. */
const textCharsMax = 5_000_000
/** Most characters of all details together; details of further tests are left out. */
const allDetailsCharsMax = 1_000_000

/** Counts the entries and texts of a report, and refuses a report that has too many. */
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

export const unreadable = (problem: string) => invalidParameters([`the report ${problem}`])

/**
 * Returns the text of a report in UTF-8, or in UTF-16 with a byte order mark.
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
