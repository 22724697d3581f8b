import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { median } from '../../../support/statistics.js'
import { gitText } from '../baselines.js'
import { createClient, read } from '../load.js'
import { type Context, say } from '../samples.js'
import type { Processes, Project } from '../service.js'
import { bulkFolder, wideFile, wideRepository } from '../wide-repository.js'

const rounds = Number(process.env.ROUNDS ?? 3)
const branchesMax = 10_000
const compared = 100
const seconds = 2

interface Sides {
  project: Project
  /** Newest commit first. */
  ids: string[]
  processes: Processes
  token: string
}

/** Measures requests of CI around a commit, with uncached answers, beside git in the same run. */
export async function aroundCommits({ service }: Context): Promise<void> {
  const prepared = await wideRepository()
  const processes = await service.gitApi(0)
  const project = await service.addProject(processes.ports, 'wide', prepared)
  const ids = (await gitText(project.path, 'rev-list', ['--first-parent'], ['main']))
    .split('\n')
    .filter(Boolean)
  const sides = { project, ids, processes, token: service.token }
  const catFile = await service.catFile(project.path)
  say('cold, 4 connections, a second', 'ours', 'cat-file', 'ours ÷ git')
  await beside('tree, page of 100', sides, catFile, (id) => ({
    ours: `/tree?ref=${id}&path=wide&per_page=100`,
    theirs: `/tree?name=${id}:wide`,
  }))
  await beside('raw file of 20 KB', sides, catFile, (id, index) => ({
    ours: `/files/${encodeURIComponent(wideFile(index))}/raw?ref=${id}`,
    theirs: `/raw?name=${id}:${wideFile(index)}`,
  }))
  await catFile.stop()
  say('time of one, ms', 'ours', 'git', 'ours ÷ git')
  await comparisons(sides)
  await archives(sides)
  await branches(sides)
  await processes.stop()
}

type Paths = (id: string, index: number) => { ours: string; theirs: string }

const repositoryPath = ({ id }: Project) => `/api/v4/projects/${id}/repository`

async function beside(name: string, sides: Sides, catFile: Processes, pathsOf: Paths): Promise<void> {
  const { ids, processes, token, project } = sides
  const pairs = ids.map(pathsOf)
  const load = (ports: number[], paths: string[]) => read({ ports, paths, token, connections: 4, seconds })
  const ourPaths = pairs.map(({ ours }) => repositoryPath(project) + ours)
  const theirPaths = pairs.map(({ theirs }) => theirs)
  await load(processes.ports, ourPaths)
  await load(catFile.ports, theirPaths)
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    ours.push((await load(processes.ports, ourPaths)).perSecond)
    theirs.push((await load(catFile.ports, theirPaths)).perSecond)
  }
  say(name, median(ours), median(theirs), ...ratiosOf(ours, theirs))
}

/** Returns the median of the ratios, and each of them. */
function ratiosOf(ours: number[], theirs: number[]): string[] {
  const ratios = ours.map((value, index) => value / (theirs[index] ?? Number.NaN))
  return [median(ratios).toFixed(2), `(${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`]
}

/** Returns times of both sides in turns, after one turn that does not count. */
async function inTurns(
  name: string,
  turns: number,
  ours: (turn: number) => Promise<unknown>,
  git: (turn: number) => Promise<unknown>,
): Promise<void> {
  const times = { ours: [] as number[], git: [] as number[] }
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [side, work] of [['ours', ours] as const, ['git', git] as const]) {
      const startedMs = performance.now()
      await work(turn)
      if (turn > 0) times[side].push(performance.now() - startedMs)
    }
  }
  say(name, median(times.ours), median(times.git), ratiosOf(times.ours, times.git)[0] ?? '')
}

/** Measures a page of 100 of 10,000 branches, beside the same fields of `git for-each-ref`. */
async function branches({ project, ids, processes, token }: Sides): Promise<void> {
  const lines = Array.from(
    { length: branchesMax },
    (_, number) => `create refs/heads/b${String(number).padStart(5, '0')} ${ids[number % ids.length]}\n`,
  )
  execFileSync('git', [`--git-dir=${project.path}`, 'update-ref', '--stdin'], { input: lines.join('') })
  execFileSync('git', [`--git-dir=${project.path}`, 'pack-refs', '--all'])
  const client = createClient(processes.ports.slice(0, 1), token)
  const fields = 'refname objectname tree parent authorname authoremail authordate committername'
  const further = 'committeremail committerdate contents'
  const format = `${fields} ${further}`.split(' ').map((field) => `%(${field})`)
  const page = async () => {
    const { status, text } = await client.get(`${repositoryPath(project)}/branches?per_page=100`)
    if (status !== 200 || JSON.parse(text).length !== 100) throw new Error(text.slice(0, 300))
  }
  const flags = ['--count=100', `--format=${format.join('%00')}`]
  await inTurns('branches, 100 of 10,000', 7 * rounds, page, () =>
    gitText(project.path, 'for-each-ref', [...flags, 'refs/heads']),
  )
  client.close()
}

/**
 * Measures 100 commits and their diff, different ones each time, beside one git process that prints the same
 * diff.
 */
async function comparisons({ project, ids, processes, token }: Sides): Promise<void> {
  const client = createClient(processes.ports.slice(0, 1), token)
  const endsOf = (turn: number) => ({ from: ids[compared + turn] ?? '', to: ids[turn] ?? '' })
  const compare = async (turn: number) => {
    const { from, to } = endsOf(turn)
    const { status, text } = await client.get(`${repositoryPath(project)}/compare?from=${from}&to=${to}`)
    if (status !== 200 || JSON.parse(text).commits.length !== compared) throw new Error(text.slice(0, 300))
  }
  const flags = ['-r', '-M', '--raw', '--patch', '--full-index']
  await inTurns('compare of 100 commits', 7 * rounds, compare, (turn) => {
    const { from, to } = endsOf(turn)
    return gitText(project.path, 'diff-tree', flags, [from, to])
  })
  client.close()
}

/** Measures a folder of 100 MB as tar.gz. */
async function archives({ project, processes, token }: Sides): Promise<void> {
  const url = `http://127.0.0.1:${processes.ports[0]}${repositoryPath(project)}/archive.tar.gz?path=${bulkFolder}`
  const ours = async () => {
    const response = await fetch(url, { headers: { 'PRIVATE-TOKEN': token } })
    let bytes = 0
    for await (const chunk of response.body ?? []) bytes += chunk.length
    if (!response.ok || bytes < 1e7) throw new Error(`the archive has ${bytes} bytes`)
  }
  const git = async () => {
    const command = 'git --git-dir="$0" archive --format=tar main bulk | gzip -cn'
    const child = spawn('sh', ['-c', command, project.path], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.resume()
    await once(child, 'close')
  }
  await inTurns('archive of 100 MB', rounds, ours, git)
}
