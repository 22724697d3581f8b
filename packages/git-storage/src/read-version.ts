import { runGitOk } from './git-process.js'
import { neutralRepository } from './neutral-repository.js'

/** The version of the installed git, such as `2.39.5`. @throws DomainError unavailable after two seconds */
export async function readVersion(): Promise<string> {
  const { stdout } = await runGitOk(neutralRepository, { command: 'version' }, { timeoutMs: 2_000 })
  return stdout
    .toString()
    .replace(/^git version /, '')
    .trim()
}
