import { execa } from 'execa'
import { isolatedGitEnv } from './git-repository.js'

/** Content of the innermost folder: a blob, or nothing. */
type BombCore = 'file' | 'nothing'

/**
 * Creates a commit with trees of some kilobytes that contain 10^10 files or empty folders.
 *
 * @param path work tree, or path of a bare repository
 * @param parent parent of the commit; unset: a root commit
 * @returns id of the commit
 */
export async function makeTreeBomb(path: string, core: BombCore = 'file', parent?: string): Promise<string> {
  const git = async (args: string[], input = '') =>
    (await execa('git', ['-C', path, ...args], { env: isolatedGitEnv(), extendEnv: false, input })).stdout
  const tenOf = (entry: string) =>
    git(['mktree'], Array.from({ length: 10 }, (_, index) => `${entry}\t${index}\n`).join(''))
  let tree =
    core === 'file'
      ? await tenOf(`100644 blob ${await git(['hash-object', '-w', '--stdin'], 'x\n')}`)
      : await git(['mktree'])
  for (let level = 0; level < (core === 'file' ? 9 : 10); level += 1)
    tree = await tenOf(`040000 tree ${tree}`)
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const parents = parent === undefined ? [] : ['-p', parent]
  return git([...identity, 'commit-tree', '-m', 'Bomb', ...parents, tree])
}
