import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runGitOk } from '@switchyard/git-storage/processes'
import { dataDir } from './make-repository.js'

const program = join(dataDir, 'libgit2')

/** Compiles the baseline in C. @returns the reason why it cannot be compiled; null on success */
export function buildLibgit2(): string | null {
  mkdirSync(dirname(program), { recursive: true })
  const source = fileURLToPath(new URL('./libgit2.c', import.meta.url))
  try {
    execFileSync('cc', ['-O2', '-o', program, source, '-lgit2'], { stdio: 'pipe' })
    return null
  } catch {
    return 'no C compiler, or no libgit2 with its headers (apt install gcc libgit2-dev)'
  }
}

/**
 * Measures the answers per second of libgit2 in one thread.
 *
 * @param lines ids, or what to pick, onto what, to which branch
 * @param objects whether it caches objects, as it does by default
 */
export async function libgit2(
  path: string,
  kind: 'list' | 'stats' | 'diff' | 'pick',
  lines: string[],
  seconds: number,
  objects: 'kept' | 'anew' = 'kept',
): Promise<number> {
  const child = spawn(program, [path, kind, String(seconds), objects], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(`${lines.join('\n')}\n`)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`libgit2 exited with ${code}`)
  const [answers, spent] = Buffer.concat(chunks).toString().split(' ').map(Number)
  return (answers ?? 0) / (spent ?? 1)
}

/**
 * Measures the diffs per second of two processes that only query `git diff-tree --stdin`. Each requests all
 * commits, like the processes that are compared with it, and begins at another one. A process with only a
 * part of the commits would find more of them in git's memory.
 */
export async function engine(path: string, ids: string[], seconds: number): Promise<number> {
  const counts = [0, Math.floor(ids.length / 2)].map(async (first) => {
    const child = fork(fileURLToPath(new URL('./engine-process.ts', import.meta.url)), [
      path,
      String(seconds),
    ])
    child.send([...ids.slice(first), ...ids.slice(0, first)])
    const [count] = await once(child, 'message')
    return Number(count)
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0) / seconds
}

/** Writes a commit of these files on a branch with git's plumbing, with a process for each step. */
export async function commitByPlumbing(
  path: string,
  branch: string,
  files: Record<string, string>,
): Promise<void> {
  const run = async (args: string[], { stdin = '', variables = {} } = {}) =>
    (await plumb(path, args, stdin, variables)).trim()
  const parent = await run(['rev-parse', `refs/heads/${branch}`])
  const variables = { GIT_INDEX_FILE: join(path, `index-${branch}`) }
  const entries = await Promise.all(
    Object.entries(files).map(async ([file, content]) => {
      const id = await run(['hash-object', '-w', '--stdin'], { stdin: content })
      return `100644 ${id}\t${file}\n`
    }),
  )
  await run(['read-tree', parent], { variables })
  await run(['update-index', '--index-info'], { variables, stdin: entries.join('') })
  const tree = await run(['write-tree'], { variables })
  const author = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com']
  const id = await run([...author, 'commit-tree', tree, '-p', parent, '-m', 'Add files'])
  await run(['update-ref', `refs/heads/${branch}`, id, parent])
}

async function plumb(path: string, args: string[], stdin: string, variables: Record<string, string>) {
  const child = spawn('git', [`--git-dir=${path}`, ...args], { env: { ...process.env, ...variables } })
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`git ${args.join(' ')} exited with ${code}`)
  return Buffer.concat(chunks).toString()
}

/** Returns the output of a git command. */
export async function gitText(path: string, command: string, flags: string[], revisions: string[] = []) {
  return (await runGitOk(path, { command, flags, revisions })).stdout.toString()
}
