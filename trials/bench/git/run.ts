import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { buildLibgit2 } from './baselines.js'
import { plans } from './make-repository.js'
import { reads, sampleOf } from './samples.js'
import { requestsAlone } from './sections/alone.js'
import { checkAnswers } from './sections/answers.js'
import { aroundCommits } from './sections/around-commits.js'
import { coldReads } from './sections/cold-reads.js'
import { mixedReads, sweep } from './sections/concurrency.js'
import { growth } from './sections/growth.js'
import { pathReads } from './sections/paths.js'
import { realRepository } from './sections/real-repository.js'
import { warmReads } from './sections/warm-reads.js'
import { cherryPicks, creates } from './sections/writes.js'
import { startService } from './service.js'

/** `SECTIONS=cold,warm` runs only these sections. */
const wanted = process.env.SECTIONS?.split(',')
const isWanted = (section: string) => wanted === undefined || wanted.includes(section)

// The baselines in Node are bundled like services.
const trials = resolve(import.meta.dirname, '../..')
execFileSync(process.execPath, [join(trials, '../ops/bundler/bundle-service.mjs'), trials], {
  stdio: 'inherit',
})

/** A repository that replaces the generated ones: see `sections/real-repository.ts`. */
const real = process.env.BENCH_REPOSITORY

const noLibgit2 = real === undefined ? buildLibgit2() : null
if (noLibgit2) console.log(`without the baseline of libgit2: ${noLibgit2}`)
const service = await startService(real === undefined ? plans : [])
try {
  if (real !== undefined) await realRepository(service, real)
  else await generatedRepositories()
} finally {
  await service.close()
}

async function generatedRepositories(): Promise<void> {
  const samples = await Promise.all(service.projects.map(sampleOf))
  const context = { service, samples, withLibgit2: noLibgit2 === null }
  if (isWanted('answers')) await checkAnswers(context)
  if (isWanted('cold')) await coldReads(context)
  if (isWanted('growth')) await growth(context)
  if (isWanted('warm')) await warmReads(context)
  if (isWanted('sweep')) await sweep(context, reads)
  if (isWanted('alone')) await requestsAlone(context)
  if (isWanted('mixed')) await mixedReads(context)
  if (isWanted('paths')) await pathReads(context)
  if (isWanted('around')) await aroundCommits(context)
  if (isWanted('create')) await creates(context)
  if (isWanted('pick')) await cherryPicks(context)
}
