import { readableText } from '@switchyard/domain/commit'
import { runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'

/** An author and the number of commits without merges. */
export interface Contributor {
  name: string
  email: string
  commits: number
}

/**
 * Lists everybody who wrote a commit or one of its ancestors, most commits first. Authors with the same
 * e-mail address, in upper or lower case, are one contributor, with the name of most of these commits.
 *
 * @throws DomainError unavailable after a minute
 */
export async function listContributors(repository: Repository, commitId: string): Promise<Contributor[]> {
  const flags = ['--summary', '--numbered', '--email', '--no-merges']
  const { stdout } = await runGitOk(repository, { command: 'shortlog', flags, revisions: [commitId] })
  const byEmail = new Map<string, Contributor>()
  for (const line of stdout.toString('latin1').split('\n')) {
    const text = readableText(Buffer.from(line, 'latin1'))
    // A line is `   12\tAda Lovelace <ada@example.com>`.
    const nameAt = text.indexOf('\t') + 1
    const emailAt = text.lastIndexOf(' <')
    if (nameAt === 0 || emailAt < nameAt) continue
    const email = text.slice(emailAt + 2, -1)
    const commits = Number(text.slice(0, nameAt))
    const known = byEmail.get(email.toLowerCase())
    if (known) known.commits += commits
    else byEmail.set(email.toLowerCase(), { name: text.slice(nameAt, emailAt), email, commits })
  }
  return [...byEmail.values()].sort((a, b) => b.commits - a.commits)
}
