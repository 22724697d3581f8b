import { parseArgs } from 'node:util'
import { startDatabases } from '../../support/databases.js'
import { median, quantile } from '../../support/statistics.js'
import { usageOf } from '../saga/process-usage.js'
import { startGitApi } from './git-api.js'
import { closeConnections, fillCommit, timeAuthentication, timeJobTokens, timeLists } from './latencies.js'
import { createPlainWriter, postStatuses, type Rows, writers } from './posts.js'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    requests: { type: 'string', default: '500' },
  },
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const requests = Number(options.requests)

const databases = await startDatabases(['ours', 'plain'])
const gitApi = await startGitApi(databases.urls.ours)
const plain = await createPlainWriter(databases.urls.plain)

const say = (what: string, value: string, more = '') =>
  console.log(`${what.padEnd(58)} ${value.padStart(9)}  ${more}`)

async function measurePosts(rows: Rows): Promise<void> {
  const posts: number[] = []
  const statements: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const [posted, written] = [
      await postStatuses(gitApi, gitApi.headers, rows, seconds),
      await plain.write(rows, seconds),
    ]
    // The first round is the warm-up.
    if (round === 0) continue
    posts.push(posted)
    statements.push(written)
  }
  const ratios = posts.map((value, round) => value / (statements[round] ?? Number.NaN))
  say(`posts of ${writers} clients, ${rows}`, `${median(posts).toFixed(0)}/s`)
  say(`plain INSERT or UPDATE, ${rows}`, `${median(statements).toFixed(0)}/s`)
  say(`posts ÷ plain, ${rows}`, median(ratios).toFixed(2), ratios.map((ratio) => ratio.toFixed(2)).join(' '))
}

await measurePosts('one row')
await measurePosts('own rows')

/** Measures the CPU milliseconds of git-api for a post. */
async function cpuOfPost(headers: Record<string, string>): Promise<number> {
  const before = usageOf(gitApi.pid).cpuSeconds
  const perSecond = await postStatuses(gitApi, headers, 'own rows', seconds)
  return ((usageOf(gitApi.pid).cpuSeconds - before) * 1000) / (perSecond * seconds)
}

/** Measures an access token and the identity token of a CI job, in turns. */
async function measureJobs(): Promise<void> {
  const job = await gitApi.jobHeaders()
  const byUser: number[] = []
  const byJob: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const [user, ofJob] = [await cpuOfPost(gitApi.headers), await cpuOfPost(job)]
    if (round === 0) continue
    byUser.push(user)
    byJob.push(ofJob)
  }
  const ratios = byJob.map((value, round) => value / (byUser[round] ?? Number.NaN))
  say('CPU time of a post with an access token', `${median(byUser).toFixed(2)} ms`)
  say('CPU time of a post with an identity token', `${median(byJob).toFixed(2)} ms`)
  say(
    'identity token ÷ access token',
    median(ratios).toFixed(2),
    ratios.map((ratio) => ratio.toFixed(2)).join(' '),
  )
  const { shown, first } = await timeJobTokens(gitApi, requests)
  say(
    'the first time of an identity token adds',
    `${(median(first) - median(shown)).toFixed(2)} ms`,
    `p50; later times take ${median(shown).toFixed(2)} ms in all`,
  )
}

await measureJobs()

await fillCommit(databases.urls.ours, gitApi)
for (const [query, times] of await timeLists(gitApi, requests)) {
  say(
    `100 of 10,000 statuses, ${query}`,
    `${quantile(times, 0.99).toFixed(1)} ms`,
    `p99; p50 ${median(times).toFixed(1)} ms`,
  )
}

const { known, anonymous } = await timeAuthentication(gitApi, requests * 6)
say(
  'a public commit, with a token',
  `${median(known).toFixed(2)} ms`,
  `p50; without one ${median(anonymous).toFixed(2)} ms`,
)
say('authentication adds', `${(median(known) - median(anonymous)).toFixed(2)} ms`, 'p50')

closeConnections()
await plain.close()
await gitApi.stop()
await databases.close()
