import { runGitOk } from './git-process.js'
import { type DiffEntry, parseDiff } from './parse-diff.js'

/** Of one file; the entry stays, its text goes. */
const patchBytesMax = 1024 * 1024
/** Of the whole answer of git; entries beyond it stay, without their text. */
const diffBytesMax = 32 * 1024 * 1024

/** What a commit changed against its first parent, or against nothing when it is a root. */
export async function readDiff(path: string, id: string, signal?: AbortSignal): Promise<DiffEntry[]> {
  const { stdout, truncated } = await runGitOk(
    path,
    {
      command: 'diff-tree',
      flags: [
        ...['-r', '-M', '--root', '--diff-merges=first-parent', '--no-commit-id'],
        ...['-z', '--raw', '--patch', '--no-color', '--no-ext-diff', '--no-textconv', '--full-index'],
      ],
      revisions: [id],
    },
    { signal, stdoutBytesMax: diffBytesMax },
  )
  return parseDiff(stdout, truncated, { patchBytesMax })
}
