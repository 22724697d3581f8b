import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { applyMigrations } from '@switchyard/db/migrations'
import { startPostgres } from '@switchyard/dev-env'
import { startGitApi } from '../status/git-api.js'

/** One push of thousands of new tags: to git-api over HTTP, and to a folder, where git runs no hooks. */
const { values: options } = parseArgs({
  options: { tags: { type: 'string', default: '4000,8000' }, rounds: { type: 'string', default: '3' } },
})
const rounds = Number(options.rounds)

const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
const work = join(folder, 'work')
mkdirSync(work)
const git = (args: string[], input = '') =>
  execFileSync('git', ['-C', work, ...args], { input, encoding: 'utf8' })
const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: console.error })
await applyMigrations(postgres.adminUrl)
const gitApi = await startGitApi(postgres.adminUrl)

/** In seconds. */
function timePush(remote: string): number {
  const startedAt = performance.now()
  git(['push', '--quiet', remote, '--tags'])
  return (performance.now() - startedAt) / 1000
}

async function newProject(path: string): Promise<string> {
  const init = { method: 'POST', headers: gitApi.headers, body: new URLSearchParams({ path }) }
  const response = await fetch(`http://127.0.0.1:${gitApi.port}/api/v4/projects`, init)
  if (!response.ok) throw new Error(await response.text())
  return `http://any:${gitApi.headers['PRIVATE-TOKEN']}@127.0.0.1:${gitApi.port}/root/${path}.git`
}

function newFolder(name: string): string {
  git(['init', '--quiet', '--bare', name])
  return join(work, name)
}

const seconds = (value: number) => `${value.toFixed(2)} s`
const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

try {
  git(['init', '--quiet'])
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com']
  git([...identity, 'commit', '--quiet', '--allow-empty', '-m', 'one commit'])
  let made = 0
  for (const count of String(options.tags).split(',').map(Number)) {
    const names = Array.from({ length: count - made }, (_, number) => `refs/tags/t${made + number}`)
    git(['update-ref', '--stdin'], names.map((name) => `create ${name} HEAD\n`).join(''))
    made = count
    git(['pack-refs', '--all'])
    const ratios: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      const local = timePush(newFolder(`local-${count}-${round}`))
      const ours = timePush(await newProject(`tags-${count}-${round}`))
      ratios.push(ours / local)
      console.log(`${count} tags: ours ${seconds(ours)}, local ${seconds(local)}`)
    }
    const all = ratios.map((ratio) => ratio.toFixed(2)).join(' ')
    console.log(`${count} tags, ours ÷ local: ${median(ratios).toFixed(2)} (${all})`)
  }
} finally {
  await gitApi.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
