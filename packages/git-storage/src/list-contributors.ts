import { runGitOk } from './git-process.js'
import type { OpenRepository } from './open-repository.js'

/** An author and the number of commits, merges not counted. */
export interface Contributor {
  name: string
  email: string
  commits: number
}

const line = /^ *(\d+)\t(.*) <(.*)>$/

/**
 * Everybody who wrote a commit or one of its ancestors, most commits first. Authors with the same e-mail address, in any
 * case, count as one; the name is that of most of their commits.
 *
 * @throws DomainError unavailable after a minute
 */
export async function listContributors(
  { path, signal }: OpenRepository,
  commitId: string,
): Promise<Contributor[]> {
  const flags = ['--summary', '--numbered', '--email', '--no-merges']
  const { stdout } = await runGitOk(path, { command: 'shortlog', flags, revisions: [commitId] }, { signal })
  const byEmail = new Map<string, Contributor>()
  for (const text of stdout.toString().split('\n')) {
    const [, count, name = '', email = ''] = line.exec(text) ?? []
    if (count === undefined) continue
    const key = email.toLowerCase()
    const known = byEmail.get(key)
    if (known) known.commits += Number(count)
    else byEmail.set(key, { name, email, commits: Number(count) })
  }
  return [...byEmail.values()].sort((a, b) => b.commits - a.commits)
}
