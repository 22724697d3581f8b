import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findPostgres } from '@switchyard/local-servers'
import { type Counts, createMix, keepLoad, measureCapacity, underWayMax } from '../support/mix.js'
import { startTree } from '../support/tree.js'
import { type Sample, takeSamples } from './samples.js'
import { judge } from './verdict.js'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, samples: { type: 'string' } },
})
const minutes = Number(values.minutes)
if (!(minutes > 0 && minutes <= 600)) {
  console.error('usage: pnpm soak [--minutes UP_TO_600] [--samples FILE]')
  process.exit(2)
}

/** Shortest duration for a verdict, because a slope over less time is noise. */
const minutesToJudge = 20
const capacityShare = 0.7
const sampleEveryMs = Math.max(2000, (minutes * 60_000) / 180)

const tree = await startTree({ env: { SAGA_AUTH: 'token', RATE_LIMIT_PER_MINUTE: '0' } })
try {
  const databaseUrl = findPostgres(join(tree.dataDir, 'postgres'))
  if (databaseUrl === null) throw new Error('PostgreSQL does not run')
  const mix = await createMix(tree)
  // The first rounds are slow, because code is compiled and plans have no statistics.
  await measureCapacity(mix, 8, 15)
  const withFew = await measureCapacity(mix, 8, 30)
  // The load is below the capacity, so that a backlog can be worked off.
  const capacity = await measureCapacity(mix, underWayMax, 30)
  const perSecond = capacity * capacityShare
  console.log(
    `capacity ${capacity.toFixed(1)} a second (${withFew.toFixed(1)} for 8 callers); ` +
      `${minutes} minutes at ${perSecond.toFixed(1)} a second`,
  )

  const counts: Counts = { done: 0, failed: 0, reasons: new Map(), skipped: 0 }
  const samples: Sample[] = []
  const startedMs = performance.now()
  const elapsedMs = () => performance.now() - startedMs
  const isOver = () => elapsedMs() >= minutes * 60_000
  const load = keepLoad(mix, perSecond, counts, isOver)
  while (!isOver()) {
    samples.push(...(await takeSamples(tree, databaseUrl, elapsedMs() / 1000)))
    await delay(sampleEveryMs)
  }
  await load
  await mix.close()
  if (values.samples) await writeFile(values.samples, `${JSON.stringify(samples)}\n`)

  const verdicts = judge(samples)
  console.log(`${counts.done} done, ${counts.failed} failed, ${counts.skipped} not begun`)
  for (const [reason, count] of counts.reasons) console.log(`${count} failed: ${reason}`)
  console.log('\n| service | figure | median | change in an hour | flat |\n| --- | --- | --- | --- | --- |')
  for (const { subject, figure, median, perHour, isFlat } of verdicts)
    console.log(
      `| ${subject} | ${figure} | ${median.toFixed(1)} | ${perHour.toFixed(1)} | ${isFlat ? 'yes' : 'no'} |`,
    )
  const isWell = counts.failed === 0 && counts.skipped === 0 && verdicts.every(({ isFlat }) => isFlat)
  if (minutes < minutesToJudge)
    console.log(`\nno verdict: a run shorter than ${minutesToJudge} minutes shows noise`)
  else process.exitCode = isWell ? 0 : 1
} finally {
  await tree.stop()
}
