import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'

export interface RepositoryPlan {
  name: string
  commits: number
  files: number
}

export const plans: RepositoryPlan[] = [
  { name: 'small', commits: 4_000, files: 400 },
  { name: 'large', commits: 65_000, files: 3_000 },
]

const root = resolve(import.meta.dirname, '../../..')
export const dataDir = join(resolve(root, process.env.SWITCHYARD_DATA ?? '.switchyard'), 'bench', 'git')
/**
 * With files up to this size, and long ones changed more often, a changed one has 34 to 37 KB; in Linux 36.
 */
const fileBytesMax = 150_000
/** A file with a longer line was written by a program. */
const lineLengthMax = 500
/** Changes how histories are made: raise it with every change of this file. */
const edition = 2

interface SourceFile {
  path: string
  lines: string[]
}

/**
 * A bare repository whose files are those of the installed packages, and whose history edits, moves, adds
 * and removes them, with lines of other such files. Made once, then kept.
 *
 * @returns its path
 */
export const repositoryOf = (plan: RepositoryPlan): Promise<string> =>
  builtRepository(plan.name, () => historyOf(plan))

/** A bare repository with a history for `git fast-import`. Made once, then kept. @returns its path */
export async function builtRepository(name: string, history: () => Iterable<string>): Promise<string> {
  const path = join(dataDir, `${name}-${edition}.git`)
  if (existsSync(path)) return path
  console.log(`making the ${name} repository, once`)
  const temporary = `${path}.new`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(dirname(path), { recursive: true })
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${temporary}`, ...args], { stdio: 'pipe' })
  await importHistory(temporary, history())
  git('repack', '-adq')
  git('commit-graph', 'write', '--reachable', '--changed-paths')
  git('pack-refs', '--all')
  renameSync(temporary, path)
  return path
}

/**
 * Makes a bare repository of a history for `git fast-import`, as it is after that: one pack, and nothing
 * beside it.
 */
export async function importHistory(path: string, history: Iterable<string>): Promise<void> {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path])
  const child = spawn('git', [`--git-dir=${path}`, 'fast-import', '--quiet', '--done'], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  await writeHistory(child, history)
}

async function writeHistory(child: ChildProcess, history: Iterable<string>): Promise<void> {
  const input = child.stdin as Writable
  const closed = once(child, 'close')
  for (const chunk of history) if (!input.write(chunk)) await once(input, 'drain')
  input.end('done\n')
  const [code] = await closed
  if (code !== 0) throw new Error(`git fast-import exited with ${code}`)
}

function* historyOf({ commits, files }: RepositoryPlan): Generator<string> {
  const random = seededRandom(commits)
  const upTo = (max: number) => Math.floor(random() * max)
  const sources = sourceFiles(files)
  const tree = new Map(sources.map((file) => [file.path, [...file.lines]]))
  const anyLine = () => {
    const { lines } = sources[upTo(sources.length)] as SourceFile
    return lines[upTo(lines.length)] ?? ''
  }
  yield commit({ mark: 1, seconds: start, message: 'Begin', changes: [...tree].map(modify) })
  let from = 1
  let side: number | undefined
  for (let mark = 2; mark <= commits; mark += 1) {
    const branchesOff = side === undefined && mark > 20 && random() < 0.08
    const changes = random() < 0.002 ? 200 : 1 + upTo(4)
    yield commit({
      mark,
      seconds: start + mark * 1200 + upTo(600),
      message: `${anyLine().trim().slice(0, 60) || 'Tidy'}\n\n${anyLine()}\n${anyLine()}\n`,
      from: branchesOff ? from - upTo(Math.min(12, from - 1)) : from,
      merge: side,
      changes: Array.from({ length: changes }, () =>
        changeOf(tree, { upTo, anyLine, renames: !branchesOff }),
      ),
    })
    side = branchesOff ? mark : undefined
    if (!branchesOff) from = mark
  }
  yield `reset refs/heads/main\nfrom :${from}\n\n`
}

const start = 1_300_000_000
type UpTo = (max: number) => number

interface Dice {
  upTo: UpTo
  anyLine: () => string
  /** A branch may not have the file under its newest name. */
  renames: boolean
}

function changeOf(tree: Map<string, string[]>, { upTo, anyLine, renames }: Dice): string {
  const path = pathOfAnyLine(tree, upTo)
  const lines = tree.get(path)
  if (!renames || lines === undefined || upTo(100) > 0) return edit(tree, path, upTo, anyLine)
  const moved = `${dirname(path)}/moved-${upTo(1_000_000)}.${path.split('.').pop()}`
  // Copied under the new name and removed under the old one, which also works where it never was.
  tree.delete(path)
  tree.set(moved, lines)
  return `D ${path}\n${edit(tree, moved, upTo, anyLine)}`
}

interface Lines {
  tree: Map<string, string[]>
  paths: string[]
  /** For each path, how many lines it and those before it have. */
  upToHere: number[]
}

/** Computed again only when it may have changed by much. */
let counted: Lines | undefined
let age = 0
function countLines(tree: Map<string, string[]>): Lines {
  age += 1
  if (counted?.tree === tree && age <= 200) return counted
  age = 0
  let sum = 0
  const upToHere = Array.from(tree.values(), (lines) => (sum += lines.length + 1))
  counted = { tree, paths: [...tree.keys()], upToHere }
  return counted
}

/** Each line is as likely to change as any other, so long files change more often. */
function pathOfAnyLine(tree: Map<string, string[]>, upTo: UpTo): string {
  const { paths, upToHere } = countLines(tree)
  const line = upTo(upToHere.at(-1) ?? 0)
  let [low, high] = [0, paths.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((upToHere[middle] ?? 0) > line) high = middle
    else low = middle + 1
  }
  return paths[low] as string
}

function edit(tree: Map<string, string[]>, path: string, upTo: UpTo, anyLine: () => string): string {
  const lines = tree.get(path) ?? []
  for (let hunk = 0; hunk <= upTo(3); hunk += 1) {
    const added = Array.from({ length: upTo(6) }, anyLine)
    const room = lines.length > 900 ? 12 : 5
    lines.splice(upTo(lines.length + 1), upTo(room), ...added)
  }
  tree.set(path, lines)
  return modify([path, lines])
}

const modify = ([path, lines]: [string, string[]]) =>
  `M 100644 inline ${path}\n${data(`${lines.join('\n')}\n`)}`

export const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`

interface CommitPlan {
  mark: number
  seconds: number
  message: string
  from?: number
  merge?: number | undefined
  changes: string[]
}

function commit({ mark, seconds, message, from, merge, changes }: CommitPlan): string {
  const author = `Author ${mark % 97} <author-${mark % 97}@example.com> ${seconds - (mark % 900)} +0200`
  return [
    `commit refs/heads/main\nmark :${mark}\nauthor ${author}\n`,
    `committer Maintainer ${mark % 11} <m${mark % 11}@example.com> ${seconds} +0000\n`,
    data(message),
    from === undefined ? '' : `from :${from}\n`,
    merge === undefined ? '' : `merge :${merge}\n`,
    ...changes,
    '\n',
  ].join('')
}

/** Text files of what is installed here, the same ones in the same order each time. */
function sourceFiles(count: number): SourceFile[] {
  const store = join(root, 'node_modules', '.pnpm')
  const found: SourceFile[] = []
  for (const folder of readdirSync(store).sort()) {
    const packageName = folder.replace(/@\d.*$/, '').replace('+', '/')
    const packageFolder = join(store, folder, 'node_modules', packageName)
    if (existsSync(packageFolder)) collect(packageFolder, `packages/${packageName}`, found, 40)
    if (found.length >= count) return found.slice(0, count)
  }
  return found
}

function collect(folder: string, path: string, found: SourceFile[], most: number): void {
  let taken = 0
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const whole = join(folder, file)
    if (taken >= most) return
    if (file.includes('node_modules') || !/^[\w./-]+\.(?:js|ts|md|json|mjs)$/.test(file)) continue
    const { size } = statSync(whole)
    if (size < 400 || size > fileBytesMax) continue
    const lines = readFileSync(whole, 'utf8').split('\n')
    if (lines.some((line) => line.length > lineLengthMax)) continue
    found.push({ path: `${path}/${file}`, lines })
    taken += 1
  }
}

export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
