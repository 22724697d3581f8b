import { readableText } from '@switchyard/domain/commit'
import { runGitOk } from '../processes/git-process.js'
import { lineSlices } from '../processes/line-slices.js'
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
  for await (const slice of lineSlices(stdout)) {
    for (const line of slice.toString('latin1').split('\n')) count(byEmail, line)
  }
  return [...byEmail.values()].sort((a, b) => b.commits - a.commits)
}

/** @param line such as `   12\tAda Lovelace <ada@example.com>`, one character for each byte */
function count(byEmail: Map<string, Contributor>, line: string): void {
  const text = readableText(Buffer.from(line, 'latin1'))
  const nameAt = text.indexOf('\t') + 1
  const emailAt = text.lastIndexOf(' <')
  if (nameAt === 0 || emailAt < nameAt) return
  const email = text.slice(emailAt + 2, -1)
  const commits = Number(text.slice(0, nameAt))
  const known = byEmail.get(email.toLowerCase())
  if (known) known.commits += commits
  else byEmail.set(email.toLowerCase(), { name: text.slice(nameAt, emailAt), email, commits })
}
