import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { tidyRepository } from '@switchyard/git-storage/housekeeping'
import { createClient } from '../git/load.js'
import { data, importHistory, seededRandom } from '../git/make-repository.js'
import { type Service, startService } from '../git/service.js'

export interface GitApi {
  service: Service
  /** Client of one of its processes, with the administrator's token. */
  client: ReturnType<typeof createClient>
  port: number
}

/** Runs work with a git-api that has its own databases. */
export async function withGitApi<Result>(run: (gitApi: GitApi) => Promise<Result>): Promise<Result> {
  const service = await startService([])
  const processes = await service.gitApi()
  const [port = 0] = processes.ports
  const client = createClient([port], service.token)
  try {
    return await run({ service, client, port })
  } finally {
    client.close()
    await processes.stop()
    await service.close()
  }
}

const files = 256
const folderFiles = 16
/** Returns the path of a numbered file, in folders of sixteen. */
export const fileOf = (number: number) =>
  `folder-${Math.floor((number % files) / folderFiles)}/file-${number % folderFiles}.txt`

/** Yields a history in which each commit changes a line of one of 256 files of 1 KB. */
function* historyOf(commits: number): Generator<string> {
  const random = seededRandom(commits)
  const line = (file: number, number: number) => `${number} ${(file * number * 7919).toString(36).repeat(6)}`
  const text = (file: number) => Array.from({ length: 24 }, (_, number) => line(file, number)).join('\n')
  const texts = Array.from({ length: files }, (_, file) => text(file))
  const change = (file: number, number: number) =>
    `M 100644 inline ${fileOf(file)}\n${data(`changed by ${number}\n${texts[file]}\n`)}`
  for (let number = 1; number <= commits; number += 1) {
    const changed = number === 1 ? [...texts.keys()] : [Math.floor(random() * files)]
    yield [
      `commit refs/heads/main\ncommitter Author ${number % 97} <a${number % 97}@example.com> ${1_300_000_000 + number * 300} +0000\n`,
      data(`Change ${number}\n\nIt changes a line of ${fileOf(changed[0] ?? 0)}.\n`),
      ...changed.map((file) => change(file, number)),
      '\n',
    ].join('')
  }
}

/**
 * Creates a project with that many commits, after housekeeping.
 *
 * @param prepare called with the repository before housekeeping
 */
export async function makeProject(
  { service, port }: GitApi,
  name: string,
  commits: number,
  prepare: (path: string) => void = () => {},
) {
  const prepared = join(service.storageRoot, 'prepared.git')
  await timed(`${commits} commits imported`, () => importHistory(prepared, historyOf(commits)))
  prepare(prepared)
  const project = await service.addProject([port], name, prepared)
  rmSync(prepared, { recursive: true })
  await timed('housekeeping', () =>
    tidyRepository(project.path, new AbortController().signal, { lfsObjectNotes }),
  )
  return project
}

const lfsObjectNotes = {
  listReleased: async () => [],
  reclaim: async () => {},
  forget: async () => [],
}

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now()
  await work()
  console.log(`${what}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
}

/** Returns the ids of all commits of a branch, newest first. */
export const commitsOf = (path: string) =>
  execFileSync('git', [`--git-dir=${path}`, 'rev-list', 'main'], { maxBuffer: 2 ** 30 })
    .toString()
    .trim()
    .split('\n')
