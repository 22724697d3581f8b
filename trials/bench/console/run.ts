import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createDatabase } from '@switchyard/db'
import { applyMigrations } from '@switchyard/db/migrations'
import { startPostgres } from '@switchyard/local-servers'
import { launchBrowser } from '@switchyard/testing'
import type { Browser } from 'playwright-core'
import { addresses } from '../../end-to-end/console/addresses.js'
import { open, type Visit, visit } from '../../end-to-end/console/console-browser.js'
import { writeExampleData } from '../../end-to-end/console/example-data.js'
import { type Api, apiOf } from '../../support/api.js'
import { fill, sagaCount } from '../../support/fill-sagas.js'
import { median } from '../../support/statistics.js'
import { startTree } from '../../support/tree.js'
import { interactiveMs, mainThreadShare, scriptBytes, scrollByScreens } from './measures.js'

const visits = 5
const throttle = 4
const liveSeconds = 20
const eventsPerSecond = 50
const diffLines = 10_000
const framesOfScrolling = 240

/** A given folder is kept, so that the next run finds it filled. */
const dataDir = process.env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
const say = (what: string, figure: string) => console.log(`| ${what} | ${figure} |`)
const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(0)} KB`
const milliseconds = (ms: number) => `${ms.toFixed(0)} ms`

/** Measures the installation of `npm start` with the data of a team. */
async function onEmbeddedDefault(browser: Browser): Promise<void> {
  const tree = await startTree()
  try {
    const api = apiOf(tree.url, tree.rootToken)
    const { commits } = await writeExampleData(api)
    const seen = () => visit(browser, { url: tree.url, token: tree.rootToken })
    await measureScripts(seen, addresses(commits.at(-1) ?? ''))
    await measureInteractive(seen)
    const long = await writeLongDiff(api)
    await measureScrolling(seen, `/projects/root/shop/commits/${long}`, `diff of ${diffLines} lines`)
    await measureLiveList(seen, api)
  } finally {
    await tree.stop()
  }
}

/** Measures the same with millions of sagas in a separate PostgreSQL. */
async function onManySagas(browser: Browser): Promise<void> {
  const postgres = await startPostgres({ dataDir: resolve(dataDir), log: console.error })
  try {
    await applyMigrations(postgres.url)
    const database = createDatabase({
      url: postgres.url,
      poolSizeMax: 2,
      applicationName: 'bench',
      // Filling takes minutes.
      answerTimeoutMs: 0,
    })
    const { rows } = await database.pool.query('SELECT FROM sagas LIMIT 1')
    if (rows.length === 0) await fill(database, console.error)
    await database.close()
    const tree = await startTree({
      env: { DATABASE_URL: postgres.url },
    })
    try {
      const seen = () => visit(browser, { url: tree.url, token: tree.rootToken })
      await measureScrolling(seen, '/sagas', `list over ${sagaCount} sagas`)
    } finally {
      await tree.stop()
    }
  } finally {
    await postgres.stop()
    if (!process.env.DATA_DIR) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function measureScripts(seen: () => Promise<Visit>, pages: Record<string, string>): Promise<void> {
  const sizes = new Map<string, number>()
  for (const [name, address] of Object.entries(pages)) {
    const { page, close } = await seen()
    sizes.set(name, await scriptBytes(page, () => open(page, address)))
    await close()
  }
  const [largest = '', bytes = 0] = [...sizes].sort(([, a], [, b]) => b - a)[0] ?? []
  say('JavaScript of the first page, compressed', kilobytes(sizes.get('overview') ?? Number.NaN))
  say(`JavaScript of the largest route (${largest}), compressed`, kilobytes(bytes))
}

async function measureInteractive(seen: () => Promise<Visit>): Promise<void> {
  for (const address of ['/', '/sagas', '/projects/root/shop']) {
    const times: number[] = []
    for (let round = 0; round < visits; round += 1) {
      const { page, close } = await seen()
      times.push(await interactiveMs(page, throttle, () => open(page, address)))
      await close()
    }
    say(`${address} interactive, CPU ${throttle} × slower, without a cache`, milliseconds(median(times)))
  }
}

async function measureScrolling(seen: () => Promise<Visit>, address: string, what: string): Promise<void> {
  const { page, close } = await seen()
  await open(page, address)
  const { longTasks, longestMs, frames } = await scrollByScreens(page, framesOfScrolling)
  say(
    `${what}, a screen a frame`,
    `${longTasks} long tasks in ${frames} frames, longest ${milliseconds(longestMs)}`,
  )
  await close()
}

/** Commits a file of many lines, and then replaces them. @returns the id of the second commit */
async function writeLongDiff(api: Api): Promise<string> {
  const content = (word: string) =>
    Array.from(
      { length: diffLines / 2 },
      (_, line) => `export const ${word}${line} = '${word} ${line}'`,
    ).join('\n')
  const commit = (action: 'create' | 'update', word: string) =>
    api<{ id: string }>('POST', '/projects/root%2Fshop/repository/commits', {
      branch: 'main',
      commit_message: `${action} a long file`,
      actions: [{ action, file_path: 'src/long.ts', content: content(word) }],
    })
  await commit('create', 'before')
  return (await commit('update', 'after')).id
}

async function measureLiveList(seen: () => Promise<Visit>, api: Api): Promise<void> {
  const { page, close } = await seen()
  await open(page, '/sagas')
  let stopped = false
  const load = (async () => {
    for (let tick = 0; !stopped; tick += 1) {
      const due = performance.now() + 200
      await api('POST', '/saga_events', {
        events: eventsOf(`live-${Date.now()}-${tick}`, eventsPerSecond / 5),
      })
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    }
  })()
  const share = await mainThreadShare(page, liveSeconds)
  stopped = true
  await load
  say(`live list at ${eventsPerSecond} events/s, share of the main thread`, `${(share * 100).toFixed(1)} %`)
  await close()
}

/** Returns events of sagas with two events each. */
const eventsOf = (name: string, count: number) =>
  Array.from({ length: count / 2 }, (_, index) => `${name}-${index}`).flatMap((id) => [
    { operation: 'SagaStarted', event_id: `${id}-1`, saga_id: id, service_name: 'booking' },
    { operation: 'SagaEnded', event_id: `${id}-2`, saga_id: id },
  ])

const browser = await launchBrowser()
if (!browser) throw new Error('There is no Chromium')
try {
  console.log('| figure | measured |\n| --- | --- |')
  await onEmbeddedDefault(browser)
  await onManySagas(browser)
} finally {
  await browser.close()
}
