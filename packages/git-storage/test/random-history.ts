import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'

/** A bare repository that git itself created, to compare its answers with ours. */
export interface BareRepository {
  path: string
  git(...args: string[]): Promise<string>
  /** Runs git with this input. */
  feed(input: string | Uint8Array, ...args: string[]): Promise<string>
  close(): Promise<void>
}

export async function createBareRepository(...initFlags: string[]): Promise<BareRepository> {
  const path = await mkdtemp(join(tmpdir(), 'switchyard-bare-'))
  const run = async (args: string[], input?: string | Uint8Array) => {
    const options = { env: isolatedGitEnv(), extendEnv: false, ...(input !== undefined && { input }) }
    return (await execa('git', [`--git-dir=${path}`, ...args], options)).stdout
  }
  await execa('git', ['init', '--quiet', '--bare', '--initial-branch=main', ...initFlags, path])
  return {
    path,
    git: (...args) => run(args),
    feed: (input, ...args) => run(args, input),
    close: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Returns a generator of numbers from 0 up to 1, the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface HistoryShape {
  commits: number
  /** Chance that a commit is a merge; some merges have more than two parents. */
  merges: number
  /** Range in seconds by which dates jump back and forth; 0: many dates are equal. */
  skewSeconds: number
  /** Number of the first commit, when a history continues. */
  from?: number
}

/** Generates a stream for `git fast-import`: commits with any earlier parents, some on new branches. */
export function historyStream(random: () => number, shape: HistoryShape): string {
  const { commits, merges, skewSeconds, from = 1 } = shape
  const upTo = (max: number) => Math.floor(random() * max)
  const lines: string[] = []
  for (let mark = from; mark < from + commits; mark += 1) {
    const seconds = 1_600_000_000 + (skewSeconds === 0 ? Math.floor(mark / 7) : mark * 60 + upTo(skewSeconds))
    const parents = parentsOf(mark, random, merges)
    const branch = parents.length === 0 || random() < 0.9 ? 'main' : `topic/${upTo(6)}`
    lines.push(`commit refs/heads/${branch}`, `mark :${mark}`)
    lines.push(`author Änne <a@example.com> ${seconds - upTo(1000)} +0530`)
    lines.push(`committer Bob <b@example.com> ${seconds} -0800`)
    lines.push(...data(`Change ${mark}\n\n${'More about it. '.repeat(upTo(20))}\n`))
    if (parents[0] !== undefined) lines.push(`from :${parents[0]}`)
    for (const parent of parents.slice(1)) lines.push(`merge :${parent}`)
    const file = `folder-${upTo(5)}/file-${upTo(8)}.txt`
    lines.push(`M 100644 inline ${file}`)
    lines.push(...data(Array.from({ length: 40 }, (_, line) => `${line} ${upTo(3)}`).join('\n')), '')
  }
  return `${lines.join('\n')}\ndone\n`
}

function parentsOf(mark: number, random: () => number, merges: number): number[] {
  if (mark === 1 || random() < 0.01) return []
  const parents = new Set([random() < 0.8 ? mark - 1 : 1 + Math.floor(random() * (mark - 1))])
  if (random() < merges) {
    const more = random() < 0.2 ? 4 : 1
    for (let count = 0; count < more; count += 1) parents.add(1 + Math.floor(random() * (mark - 1)))
  }
  return [...parents]
}

const data = (text: string) => [`data ${Buffer.byteLength(text)}`, text]
