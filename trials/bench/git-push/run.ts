import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { applyMigrations } from '@switchyard/db/migrations'
import { packetLine } from '@switchyard/git-storage/git-http'
import { startPostgres } from '@switchyard/local-servers'
import { median } from '../../support/statistics.js'
import { startGitApi } from '../status/git-api.js'

/**
 * Measures one push of thousands of new tags: the same bytes sent to git-api over HTTP, and to a local git
 * without hooks.
 */
const { values: options } = parseArgs({
  options: { tags: { type: 'string', default: '4000,8000' }, rounds: { type: 'string', default: '3' } },
})
const rounds = Number(options.rounds)

const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
const work = join(folder, 'work')
mkdirSync(work)
const git = (args: string[], input: string | Buffer = '') =>
  execFileSync('git', ['-C', work, ...args], { input, maxBuffer: 2 ** 30 })
const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: console.error })
await applyMigrations(postgres.adminUrl)
const gitApi = await startGitApi(postgres.adminUrl)
const token = gitApi.headers['PRIVATE-TOKEN']
const baseUrl = `http://127.0.0.1:${gitApi.port}`

/** Returns the request of a client that creates this many tags of the same commit. */
function pushOf(count: number): Buffer {
  const commit = git(['rev-parse', 'HEAD']).toString().trim()
  const commands = Array.from({ length: count }, (_, number) => {
    const capabilities = number === 0 ? '\0report-status side-band-64k' : ''
    return packetLine(`${'0'.repeat(40)} ${commit} refs/tags/t${number}${capabilities}`)
  })
  const pack = git(['pack-objects', '--stdout', '--revs', '--quiet'], 'HEAD\n')
  return Buffer.concat([Buffer.from(`${commands.join('')}0000`), pack])
}

async function pushToService(path: string, body: Buffer): Promise<number> {
  const init = { method: 'POST', headers: gitApi.headers, body: new URLSearchParams({ path }) }
  const made = await fetch(`${baseUrl}/api/v4/projects`, init)
  if (!made.ok) throw new Error(await made.text())
  const headers = {
    Authorization: `Basic ${btoa(`any:${token}`)}`,
    'Content-Type': 'application/x-git-receive-pack-request',
  }
  const startedAt = performance.now()
  const url = `${baseUrl}/root/${path}.git/git-receive-pack`
  const report = await (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).text()
  check(report)
  return performance.now() - startedAt
}

function pushToFolder(name: string, body: Buffer): number {
  git(['init', '--quiet', '--bare', name])
  const startedAt = performance.now()
  check(git(['receive-pack', '--stateless-rpc', name], body).toString())
  return performance.now() - startedAt
}

function check(report: string): void {
  if (!report.includes('unpack ok') || report.includes('ng refs/')) throw new Error(report.slice(0, 500))
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
try {
  git(['init', '--quiet'])
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com']
  git([...identity, 'commit', '--quiet', '--allow-empty', '-m', 'one commit'])
  for (const count of String(options.tags).split(',').map(Number)) {
    const body = pushOf(count)
    const ratios: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      const local = pushToFolder(`local-${count}-${round}`, body)
      const ours = await pushToService(`tags-${count}-${round}`, body)
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
