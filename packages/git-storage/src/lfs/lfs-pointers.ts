import { type LfsObject, lfsPointerBytesMax, parseLfsPointer } from '@switchyard/domain/commit'
import { type RunOptions, runGitOk } from '../processes/git-process.js'

/** Most small files that one process reads. Their contents take some 20 MB at most. */
const readAtOnce = 20_000

/** Flags of `rev-list` that list only the blobs that may be pointers. */
export const pointerFilter = [
  `--filter=combine:object:type=blob+blob:limit=${lfsPointerBytesMax + 1}`,
  '--filter-provided-objects',
]

/**
 * Reads the pointers of Git LFS among small blobs, in parts.
 *
 * @param ids of blobs that the repository has
 */
export async function* readLfsPointers(
  path: string,
  ids: readonly string[],
  options: Pick<RunOptions, 'signal'> = {},
): AsyncGenerator<LfsObject[]> {
  for (let first = 0; first < ids.length; first += readAtOnce) {
    const stdin = ids.slice(first, first + readAtOnce).join('\n')
    const command = { command: 'cat-file', flags: ['--batch', '--buffer'] }
    const { stdout } = await runGitOk(path, command, { ...options, stdin })
    yield [...pointersIn(stdout)]
  }
}

/**
 * Parses the pointers in an output.
 *
 * @param output `<id> <type> <size>`, a line break, the content and a line break for each object, or `<id>
 * missing`
 */
function* pointersIn(output: Buffer): Generator<LfsObject> {
  let at = 0
  while (at < output.length) {
    const start = output.indexOf('\n', at) + 1
    if (start === 0) return
    const [, , size] = output.toString('latin1', at, start).split(' ')
    at = start
    if (size === undefined) continue
    const end = start + Number.parseInt(size, 10)
    const pointer = parseLfsPointer(output.toString('utf8', start, end))
    if (pointer) yield pointer
    at = end + 1
  }
}
