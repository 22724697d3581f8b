import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { call } from '../support/api.js'
import { fill, type History, longHistory, renames, rewrittenLines } from './histories.js'
import type { Input, Scene } from './input.js'
import { statusesOf } from './statuses.js'

const run = promisify(execFile)

/** Time after which an attacker without an answer gives up. */
const attackMs = 40_000

interface Target {
  id: number
  /** Address for git, with the attacker's token in it. */
  remote: string
}

/** Creates a project of the attacker and fills it by a push. */
async function createFilled(
  { tree, attacker }: Scene,
  path: string,
  history: History,
  visibility = 'private',
): Promise<Target> {
  const made = await call(tree, attacker.token, 'POST', '/projects', { path, visibility })
  if (made.status !== 201) throw new Error(`${path}: ${made.status} ${JSON.stringify(made.body)}`)
  const remote = attacker.remote.replace('/demo.git', `/${path}.git`)
  await fill(remote, history)
  return { id: Number(made.body.id), remote }
}

/** Sends all requests in parallel; status 0 means that there was no answer. */
async function askAll({ tree }: Scene, token: string | null, paths: readonly string[]): Promise<string> {
  const signal = AbortSignal.timeout(attackMs)
  const ask = async (path: string) => {
    const headers: Record<string, string> = token === null ? {} : { 'PRIVATE-TOKEN': token }
    try {
      const answer = await fetch(`${tree.url}/api/v4${path}`, { headers, signal })
      await answer.arrayBuffer()
      return { status: answer.status }
    } catch {
      return { status: 0 }
    }
  }
  return statusesOf(await Promise.all(paths.map(ask)))
}

const comment: Input = {
  name: 'comment on a path of 100,000 slashes',
  service: 'git-api',
  async run({ tree, attacker }) {
    const path = `/projects/${attacker.project}/repository/commits/main/comments`
    const body = { note: 'x', path: `a${'/'.repeat(100_000)}a`, line: 1, line_type: 'new' }
    return statusesOf(await Promise.all([1, 2, 3].map(() => call(tree, attacker.token, 'POST', path, body))))
  },
}

function comparisons(name: string, visibility: 'private' | 'public'): Input {
  const projects: { id: number; commits: string[] }[] = []
  return {
    name,
    service: 'git-api',
    async prepare(scene) {
      for (const number of [1, 2, 3]) {
        const { history, commits } = await renames()
        const { id } = await createFilled(scene, `${visibility}-${number}`, history, visibility)
        projects.push({ id, commits })
      }
    },
    run(scene) {
      const paths = projects.flatMap(({ id, commits }) =>
        commits.map((commit, number) => {
          const path = `/projects/${id}/repository/commits/${commit}`
          return number % 2 === 0 ? `${path}/diff` : `${path}?stats=true`
        }),
      )
      return askAll(scene, visibility === 'private' ? scene.attacker.token : null, paths)
    },
  }
}

function pathHistories(): Input {
  const projects: Target[] = []
  return {
    name: '60 histories of a path in 40,000 commits, of all branches',
    service: 'git-api',
    async prepare(scene) {
      for (const number of [1, 2])
        projects.push(await createFilled(scene, `long-${number}`, await longHistory(40_000)))
    },
    run: (scene) =>
      askAll(
        scene,
        scene.attacker.token,
        projects.flatMap(({ id }) =>
          Array.from({ length: 30 }, () => `/projects/${id}/repository/commits?path=f&all=true`),
        ),
      ),
  }
}

function longFiles(): Input {
  let target: Target
  return {
    name: '5 diffs of a file with 3,000,000 rewritten lines',
    service: 'git-api',
    async prepare(scene) {
      target = await createFilled(scene, 'lines', await rewrittenLines(3_000_000))
    },
    run: (scene) =>
      askAll(
        scene,
        scene.attacker.token,
        Array.from({ length: 5 }, () => `/projects/${target.id}/repository/commits/main/diff`),
      ),
  }
}

function clones(): Input {
  let target: Target
  return {
    name: '20 clones of one user, again and again for 20 seconds',
    service: 'git-api',
    async prepare(scene) {
      const { history } = await renames()
      target = await createFilled(scene, 'cloned', history)
    },
    async run() {
      const until = performance.now() + 20_000
      let cloned = 0
      let failed = 0
      const cloneAgain = async () => {
        while (performance.now() < until) {
          const folder = await mkdtemp(join(tmpdir(), 'switchyard-clone-'))
          try {
            await run('git', ['clone', '--quiet', '--bare', target.remote, folder])
            cloned += 1
          } catch {
            failed += 1
          } finally {
            await rm(folder, { recursive: true, force: true })
          }
        }
      }
      await Promise.all(Array.from({ length: 20 }, cloneAgain))
      return `${cloned} cloned, ${failed} refused`
    },
  }
}

export const gitInputs = [
  comment,
  comparisons('240 slow comparisons in three projects of one user', 'private'),
  comparisons('240 slow comparisons in three public projects, without a token', 'public'),
  pathHistories(),
  longFiles(),
  clones(),
]
