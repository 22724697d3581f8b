import { execFile, execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { shareOfMemory } from '../../../support/memory.js'
import { listDescendants } from '../../../support/processes.js'
import { cpuMsBelow } from '../cpu-time.js'
import { createClient, workThrough } from '../load.js'
import { say } from '../samples.js'
import type { Service } from '../service.js'
import { transfers } from './real-transfers.js'

const seconds = 5
const pathsMax = 3000
const branches = 200
const answerBytesMax = 1e9

interface Row {
  name: string
  get: string[]
  /** Arguments of the git process for one of the questions. */
  git?: (index: number) => string[]
}

/**
 * Measures the requests of CI and readers with a real repository: a bare one at `BENCH_REPOSITORY`, with a
 * branch at its HEAD. `BENCH_FILE` is a file that changes often, `BENCH_DEEP_FILE` one below folders,
 * `BENCH_FOLDER` a folder. The same questions go to git, with a process for each, and, with `PEER_URL` and
 * `PEER_TOKEN`, to a server with the same API and the repository at `PEER_PROJECT`.
 */
export async function realRepository(service: Service, prepared: string): Promise<void> {
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${prepared}`, ...args], { maxBuffer: answerBytesMax })
      .toString()
      .trim()
      .split('\n')
  const processes = await service.gitApi()
  const { id, path } = await service.addProject(processes.ports, 'real', resolve(prepared))
  const all = git('rev-list', 'HEAD')
  const newest = all.slice(0, 30_000)
  const [branch = ''] = git('symbolic-ref', '--short', 'HEAD')
  for (let index = 0; index < branches; index += 1)
    execFileSync('git', [`--git-dir=${path}`, 'update-ref', `refs/heads/b${index}`, at(newest, index * 149)])
  execFileSync('git', [`--git-dir=${path}`, 'pack-refs', '--all'])
  const ours = createClient(processes.ports, service.token)
  for (let index = 0; index < 19; index += 1) await ours.post('/api/v4/projects', { name: `p${index}` })
  const rows = [
    ...rowsOfHistory(all, newest),
    ...rowsOfCommits(newest),
    ...rowsOfFiles(newest, git('rev-list', '--first-parent', 'HEAD')),
  ]
  say('4 connections, a second', 'ours', 'p50 ms', 'CPU ms', 'git', 'CPU ms', 'peer', 'p50 ms')
  try {
    for (const { name, get, git } of rows) {
      const load = await measure((index) => ours.get(at(get, index).replace(':id', String(id))), get.length)
      say(name, ...load, ...(await measureGit(path, git)), ...(await measurePeer(get)))
    }
    for (const workers of [1, 4]) {
      const create = (index: number) =>
        ours.post(`/api/v4/projects/${id}/repository/commits`, commitOf(branch, `${workers}-${index}`))
      const load = await measure(create, pathsMax, workers)
      say(`commit of one file, ${workers} at once`, ...load)
    }
    sayMemory()
    await transfers(path, `http://any:${service.token}@127.0.0.1:${processes.ports[0]}/root/real.git`)
    sayMemory()
  } finally {
    ours.close()
    await processes.stop()
  }
}

const base = '/api/v4/projects/:id/repository'
const file = process.env.BENCH_FILE ?? 'Makefile'
const deep = process.env.BENCH_DEEP_FILE ?? 't/t4202-log.sh'
const folder = process.env.BENCH_FOLDER ?? 't'

const at = (values: readonly string[], index: number) => values[index % values.length] ?? ''
/** Neighbours in a history share what is read, so the ids are far apart. */
const idOf = (ids: readonly string[], index: number) => at(ids, index * 1009)
const each = (ids: string[], of: (id: string) => string) =>
  Array.from({ length: Math.min(pathsMax, ids.length) }, (_, index) => of(idOf(ids, index)))
const same = (path: string) => Array.from({ length: 4 * pathsMax }, () => path)

function rowsOfHistory(all: string[], newest: string[]): Row[] {
  const history = (path: string): Row => ({
    name: `history of ${path}, cold`,
    get: each(newest, (id) => `${base}/commits?ref_name=${id}&path=${encodeURIComponent(path)}`),
    git: (index) => ['log', '--max-count=20', '--follow', idOf(newest, index), '--', path],
  })
  return [
    {
      name: 'list of 20 of a commit at random, cold',
      get: each(all, (id) => `${base}/commits?ref_name=${id}`),
      git: (index) => ['log', '--max-count=20', idOf(all, index)],
    },
    { name: 'list of 20, warm', get: same(`${base}/commits?ref_name=${at(newest, 0)}`) },
    history(deep),
    history(file),
    {
      name: `20 of ${branches + 1} branches`,
      get: same(`${base}/branches`),
      git: () => [
        'for-each-ref',
        '--count=20',
        '--format=%(refname) %(objectname) %(contents)',
        'refs/heads',
      ],
    },
  ]
}

function rowsOfCommits(newest: string[]): Row[] {
  const ids = newest.slice(7)
  return [
    {
      name: 'commit with stats, cold',
      get: each(ids, (id) => `${base}/commits/${id}`),
      git: (index) => ['show', '--numstat', idOf(ids, index)],
    },
    {
      name: 'diff, cold',
      get: each(ids, (id) => `${base}/commits/${id}/diff`),
      git: (index) => ['show', idOf(ids, index)],
    },
    {
      name: `page of the tree ${folder}, cold`,
      get: each(ids, (id) => `${base}/tree?ref=${id}&path=${folder}`),
      git: (index) => ['ls-tree', `${idOf(ids, index)}:${folder}`],
    },
  ]
}

function rowsOfFiles(newest: string[], pushes: string[]): Row[] {
  const raw = (id: string) => `${base}/files/${encodeURIComponent(file)}/raw?ref=${id}`
  return [
    {
      name: `raw ${file} at random, cold`,
      get: each(newest, raw),
      git: (index) => ['cat-file', 'blob', `${idOf(newest, index)}:${file}`],
    },
    { name: `raw ${file}, one push after the other`, get: pushes.slice(0, pathsMax).reverse().map(raw) },
    { name: `raw ${file}, warm`, get: same(raw(at(newest, 0))) },
    { name: 'list of 20 projects', get: same('/api/v4/projects') },
    {
      name: 'compare with the tenth push before',
      get: pushes.slice(0, 500).map((to, index) => `${base}/compare?from=${at(pushes, index + 10)}&to=${to}`),
      git: (index) => ['diff', `${at(pushes, index + 10)}...${at(pushes, index)}`],
    },
  ]
}

const commitOf = (branch: string, name: string) => ({
  branch: `new-${name}`,
  start_branch: branch,
  commit_message: `Change ${name}`,
  actions: [{ action: 'create', file_path: `bench/file-${name}.txt`, content: `${name}\n` }],
})

type Ask = (index: number) => Promise<{ status: number }>

/** Measures requests a second, p50 and the CPU time of a request, including git's. */
async function measure(ask: Ask, most: number, workers = 4): Promise<string[]> {
  let asked = 0
  let refused = 0
  const work = async (index: number) => {
    const { status } = await ask(index)
    asked += 1
    if (status >= 400) refused += 1
  }
  const before = cpuMsBelow(process.pid)
  const { perSecond, p50Ms } = await workThrough(work, { workers, seconds, most })
  const cpuMs = (cpuMsBelow(process.pid) - before) / asked
  if (refused > asked / 20) throw new Error(`${refused} of ${asked} requests were refused`)
  return [perSecond.toFixed(1), p50Ms.toFixed(0), cpuMs.toFixed(1)]
}

const run = promisify(execFile)

/** Measures rate and CPU time of git alone. */
async function measureGit(path: string, git: Row['git']): Promise<string[]> {
  if (!git) return ['', '']
  const ask = async (index: number) => {
    const args = [`--git-dir=${path}`, ...git(index)]
    // A few commits belong to a merged history, and have none of the files.
    return run('git', args, { maxBuffer: answerBytesMax }).then(
      () => ({ status: 200 }),
      () => ({ status: 404 }),
    )
  }
  const [perSecond = '', , cpuMs = ''] = await measure(ask, pathsMax)
  return [perSecond, cpuMs]
}

async function measurePeer(get: string[]): Promise<string[]> {
  const { PEER_URL: url, PEER_TOKEN: token = '', PEER_PROJECT: project = '' } = process.env
  if (!url) return []
  const headers = { 'PRIVATE-TOKEN': token }
  const ask = async (index: number) => {
    const response = await fetch(url + at(get, index).replace(':id', encodeURIComponent(project)), {
      headers,
    })
    await response.arrayBuffer()
    return response
  }
  return (await measure(ask, get.length)).slice(0, 2)
}

/** Prints the memory of both git-api processes and their children, with their share of common memory. */
function sayMemory(): void {
  const below = listDescendants(process.pid)
  const services = below.filter(({ command }) => command.includes('git-api/dist/bundle'))
  const pids = new Set(
    services.flatMap(({ pid }) => [pid, ...listDescendants(pid, below).map((each) => each.pid)]),
  )
  const bytes = [...pids].reduce((sum, pid) => sum + shareOfMemory(pid), 0)
  say('memory of both processes, MB', (bytes / 1e6).toFixed(0))
}
