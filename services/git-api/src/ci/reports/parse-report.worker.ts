import { gzipSync } from 'node:zlib'
import { isJson } from '@switchyard/service-kit/media-type'
import { refused, type SentBody } from '../../parser-threads.js'
import { addSeconds, decode, type FindingCounts, type ParsedReport, type TestCounts } from './entries.js'
import { type JunitCase, parseJunit } from './junit.js'
import { markFlaky, packOutcomes } from './outcomes.js'
import { parseSarif, type SarifFinding } from './sarif.js'

/** Parses a report: JSON is SARIF, everything else JUnit XML. */
export function parseReport({ chunks, contentType }: SentBody) {
  try {
    const text = decode(Buffer.concat(chunks.splice(0)))
    return { parsed: isJson(contentType) ? ofSarif(parseSarif(text)) : ofJunit(parseJunit(text)) }
  } catch (error) {
    return refused(error)
  }
}

function ofJunit(cases: readonly JunitCase[]): ParsedReport {
  const tests: TestCounts = { total: cases.length, success: 0, failed: 0, error: 0, skipped: 0, time: 0 }
  for (const { status, time } of cases) {
    tests[status] += 1
    tests.time = addSeconds(tests.time, time)
  }
  const outcomes = packOutcomes(cases.map(({ identity, status }) => ({ identity, outcome: status })))
  const failedBefore = cases.filter(({ failedBefore }) => failedBefore)
  const earlier = packOutcomes(failedBefore.map(({ identity }) => ({ identity, outcome: 'failed' })))
  const entries = cases.map(({ identity: _, failedBefore: _before, ...test }) => test)
  return {
    format: 'junit',
    tests,
    findings: null,
    outcomes: markFlaky(outcomes, [earlier]),
    entries: packed(entries),
  }
}

function ofSarif(found: readonly SarifFinding[]): ParsedReport {
  const findings: FindingCounts = { total: found.length, error: 0, warning: 0, note: 0, none: 0 }
  for (const { level } of found) findings[level] += 1
  const outcomes = packOutcomes(found.map(({ identity }) => ({ identity, outcome: 'finding' })))
  return {
    format: 'sarif',
    tests: null,
    findings,
    outcomes,
    entries: packed(found.map(({ identity: _, ...each }) => each)),
  }
}

const packed = (entries: object[]) => gzipSync(JSON.stringify(entries))
