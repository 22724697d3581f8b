import { isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'

const run = async (cwd: string, args: string[], input?: string): Promise<string> => {
  const options = { cwd, env: isolatedGitEnv(), extendEnv: false, ...(input !== undefined && { input }) }
  return (await execa('git', args, options)).stdout
}

const author = ['author', 'committer'].map((role) => `${role} A <a@example.com> 1700000000 +0000`).join('\n')

/** Creates a signed tag. @param repository its path @returns its name */
export async function signTag(repository: string): Promise<string> {
  const commit = await run(repository, ['rev-parse', 'main'])
  const headers = `object ${commit}\ntype commit\ntag signed\ntagger A <a@example.com> 1700000000 +0000`
  const signature = '-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----'
  const input = `${headers}\n\nSigned\n${signature}\n`
  const tag = await run(repository, ['hash-object', '-t', 'tag', '-w', '--stdin'], input)
  await run(repository, ['update-ref', 'refs/tags/signed', tag])
  return 'signed'
}

/** Adds a submodule to the default branch. @param repository its path @returns the path of the submodule */
export async function addSubmodule(repository: string): Promise<string> {
  const path = 'module'
  const entries = await run(repository, ['ls-tree', 'main'])
  const tree = await run(
    repository,
    ['mktree', '--missing'],
    `${entries}\n160000 commit ${'1'.repeat(40)}\t${path}\n`,
  )
  const commit = `tree ${tree}\nparent ${await run(repository, ['rev-parse', 'main'])}\n${author}\n\nAdd a submodule\n`
  const id = await run(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], commit)
  await run(repository, ['update-ref', 'refs/heads/main', id])
  return path
}

/** Stores the newest commit once more, with a signature. @param repository its path @returns its hash */
export async function signCommit(repository: string): Promise<string> {
  const commit = await run(repository, ['cat-file', 'commit', 'main'])
  const signature = 'gpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----'
  const input = `${commit.replace('\n\n', `\n${signature}\n\n`)}\n`
  return run(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], input)
}
