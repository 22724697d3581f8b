import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'

export interface Identity {
  name: string
  email: string
}

export interface TestCommit {
  /** Path → content; null deletes the file. */
  files?: Record<string, string | Uint8Array | null>
  message?: string
  /** Author and committer date, ISO 8601 with an offset. Default: a minute after the previous commit. */
  date?: string
  author?: Identity
  /**
   * Branch of the commit. It is created at the current commit when it does not exist. Default: the current
   * branch.
   */
  branch?: string
}

export interface TestGitRepository {
  /** The work tree. */
  path: string
  /** Runs git in the work tree and returns its output without the last line break. */
  git(...args: string[]): Promise<string>
  /**
   * Creates a commit.
   *
   * @returns the hash of the new commit
   */
  commit(commit?: TestCommit): Promise<string>
  close(): Promise<void>
}

const committer: Identity = { name: 'Test Committer', email: 'committer@example.com' }
const firstCommitTime = Date.parse('2026-01-01T00:00:00Z')

/**
 * Returns the whole environment for git, independent of the settings of the user and the machine, and of a
 * git command that may have started this process.
 */
export function isolatedGitEnv(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    // git would start maintenance after a commit.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'maintenance.auto',
    GIT_CONFIG_VALUE_0: 'false',
  }
}

/** Creates a real repository with a work tree. Equal commits have equal hashes. */
export async function createGitRepository({ defaultBranch = 'main' } = {}): Promise<TestGitRepository> {
  const path = await mkdtemp(join(tmpdir(), 'switchyard-git-'))
  let commitCount = 0

  async function run(args: string[], env: Record<string, string> = {}): Promise<string> {
    const options = { cwd: path, env: { ...isolatedGitEnv(), ...env }, extendEnv: false }
    return (await execa('git', args, options)).stdout
  }

  async function commit({ files = {}, message, date, author = committer, branch }: TestCommit = {}) {
    commitCount += 1
    if (branch !== undefined) await switchTo(branch)
    for (const [file, content] of Object.entries(files)) await writeOrDelete(join(path, file), content)
    await run(['add', '--all'])
    const when = date ?? new Date(firstCommitTime + commitCount * 60_000).toISOString()
    await run(
      ['commit', '--quiet', '--allow-empty', '--cleanup=verbatim', '-m', message ?? `Commit ${commitCount}`],
      {
        GIT_AUTHOR_NAME: author.name,
        GIT_AUTHOR_EMAIL: author.email,
        GIT_AUTHOR_DATE: when,
        GIT_COMMITTER_NAME: committer.name,
        GIT_COMMITTER_EMAIL: committer.email,
        GIT_COMMITTER_DATE: when,
      },
    )
    return readHead()
  }

  // git writes the branch of a commit as a file. Reading the file takes a thousandth of the time of a git
  // process.
  const readGitFile = async (name: string) => (await readFile(join(path, '.git', name), 'utf8')).trim()

  /** Returns the commit that is checked out. */
  async function readHead(): Promise<string> {
    const head = await readGitFile('HEAD')
    return head.startsWith('ref: ') ? readGitFile(head.slice('ref: '.length)) : head
  }

  async function switchTo(branch: string): Promise<void> {
    if ((await readGitFile('HEAD')) === `ref: refs/heads/${branch}`) return
    const exists = await run(['for-each-ref', `refs/heads/${branch}`])
    await run(['switch', '--quiet', ...(exists ? [branch] : ['--create', branch])])
  }

  await run(['init', '--quiet', `--initial-branch=${defaultBranch}`])
  return {
    path,
    git: (...args) => run(args),
    commit,
    close: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}

async function writeOrDelete(path: string, content: string | Uint8Array | null): Promise<void> {
  if (content === null) return rm(path)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}
