// Adds up vitest's JSON reports.

/**
 * Returns the totals of one layer. `report` is vitest's JSON, or null when it wrote none; `code` is its exit
 * code. A file that cannot be loaded, and an error outside of any test, count as one failure each, so that a
 * failed run never looks green.
 */
export function countReport(layer, report, code) {
  if (!report)
    return { passed: 0, failed: 1, skipped: 0, failures: [`${layer}: the run ended without a report`] }
  const tests = report.testResults.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file })))
  const failures = tests.filter((test) => test.status === 'failed').map((test) => `${layer}: ${nameOf(test)}`)
  for (const file of report.testResults) {
    const hasFailedTest = file.assertionResults.some((test) => test.status === 'failed')
    if (file.status === 'failed' && !hasFailedTest) failures.push(`${layer}: ${file.name}: ${file.message}`)
  }
  if (failures.length === 0 && code !== 0)
    failures.push(`${layer}: an error outside of any test (exit ${code})`)
  const passed = tests.filter((test) => test.status === 'passed').length
  return { passed, failed: failures.length, skipped: tests.length - passed - countFailed(tests), failures }
}

const countFailed = (tests) => tests.filter((test) => test.status === 'failed').length
const nameOf = (test) => `${test.file.name}: ${test.fullName}`

export function addUp(counts) {
  const sum = (key) => counts.reduce((total, count) => total + count[key], 0)
  const failures = counts.flatMap((count) => count.failures)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), failures }
}

/** Returns the line that CI reads. */
export function formatTotals({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
