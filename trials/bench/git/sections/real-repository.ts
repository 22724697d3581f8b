import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { cpuMsBelow } from '../cpu-time.js'
import { createClient, workThrough } from '../load.js'
import { say } from '../samples.js'
import type { Service } from '../service.js'

const seconds = 5
const pathsMax = 3000
const branches = 200

interface Row {
  name: string
  get: string[]
}

/**
 * What CI and readers ask of a real repository: a bare one at `BENCH_REPOSITORY`, with a branch at its HEAD. `BENCH_FILE` is a file that
 * changes often, `BENCH_DEEP_FILE` one below folders. With `PEER_URL` and `PEER_TOKEN`, a server with the same API, and the
 * repository at `PEER_PROJECT`, answers the same questions.
 */
export async function realRepository(service: Service, prepared: string): Promise<void> {
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${prepared}`, ...args], { maxBuffer: 1e9 })
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
  const rows = rowsOf(all, newest, git('rev-list', '--first-parent', 'HEAD'))
  const peer = process.env.PEER_URL
  say('4 connections, a second', 'ours', 'p50 ms', 'CPU ms', 'peer', 'p50 ms')
  try {
    for (const { name, get } of rows) {
      const load = await measure((index) => ours.get(at(get, index).replace(':id', String(id))), get.length)
      const theirs = peer && (await measurePeer(peer, get))
      say(name, ...load, ...(theirs || []))
    }
    const create = (index: number) =>
      ours.post(`/api/v4/projects/${id}/repository/commits`, commitOf(branch, index))
    say('commit of one file', ...(await measure(create, pathsMax)))
  } finally {
    ours.close()
    await processes.stop()
  }
}

function rowsOf(all: string[], newest: string[], pushes: string[]): Row[] {
  const base = '/api/v4/projects/:id/repository'
  const file = encodeURIComponent(process.env.BENCH_FILE ?? 'Makefile')
  const deep = encodeURIComponent(process.env.BENCH_DEEP_FILE ?? 't/t4202-log.sh')
  const each = (ids: string[], of: (id: string) => string) =>
    Array.from({ length: Math.min(pathsMax, ids.length) }, (_, index) => of(at(ids, index * 1009)))
  const inOrder = pushes.slice(0, pathsMax).reverse()
  const same = (path: string) => Array.from({ length: 2 * pathsMax }, () => path)
  return [
    {
      name: 'list of 20 of a commit at random, cold',
      get: each(all, (id) => `${base}/commits?ref_name=${id}`),
    },
    {
      name: 'history of a deep file, cold',
      get: each(newest, (id) => `${base}/commits?ref_name=${id}&path=${deep}`),
    },
    { name: '20 of 201 branches', get: same(`${base}/branches`) },
    { name: 'raw file at random, cold', get: each(newest, (id) => `${base}/files/${file}/raw?ref=${id}`) },
    {
      name: 'raw file, one push after the other',
      get: inOrder.map((id) => `${base}/files/${file}/raw?ref=${id}`),
    },
    { name: 'raw file, warm', get: same(`${base}/files/${file}/raw?ref=${at(newest, 0)}`) },
    { name: 'list of 20 projects', get: same('/api/v4/projects') },
    {
      name: 'compare with the tenth push before',
      get: pushes.slice(0, 500).map((to, index) => `${base}/compare?from=${at(pushes, index + 10)}&to=${to}`),
    },
  ]
}

const at = (values: readonly string[], index: number) => values[index % values.length] ?? ''

const commitOf = (branch: string, index: number) => ({
  branch: `new-${index}`,
  start_branch: branch,
  commit_message: `Change ${index}`,
  actions: [{ action: 'create', file_path: `bench/file-${index}.txt`, content: `${index}\n` }],
})

type Ask = (index: number) => Promise<{ status: number; text: string }>

/** Requests a second, p50 and the CPU time of a request, git's included. */
async function measure(ask: Ask, most: number): Promise<string[]> {
  let asked = 0
  let refused = 0
  const work = async (index: number) => {
    const { status } = await ask(index)
    asked += 1
    if (status >= 400) refused += 1
  }
  const before = cpuMsBelow(process.pid)
  const { perSecond, p50Ms } = await workThrough(work, { workers: 4, seconds, most })
  const cpuMs = (cpuMsBelow(process.pid) - before) / asked
  if (refused > asked / 20) throw new Error(`${refused} of ${asked} requests were refused`)
  return [perSecond.toFixed(1), p50Ms.toFixed(0), cpuMs.toFixed(1)]
}

async function measurePeer(url: string, get: string[]): Promise<string[]> {
  const headers = { 'PRIVATE-TOKEN': process.env.PEER_TOKEN ?? '' }
  const project = encodeURIComponent(process.env.PEER_PROJECT ?? '')
  const ask = async (index: number) => {
    const response = await fetch(url + at(get, index).replace(':id', project), { headers })
    return { status: response.status, text: await response.text() }
  }
  return (await measure(ask, get.length)).slice(0, 2)
}
