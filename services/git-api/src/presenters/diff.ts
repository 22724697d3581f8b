import { isGeneratedFile } from '@switchyard/domain/commit'
import type { DiffEntry } from '@switchyard/git-storage'
import { z } from 'zod'

const lineCount = z.int().nullable().optional().meta({
  description: 'Changed lines, only with `stat`; null for a binary file and for one that was not compared',
})

export const diffEntryShape = z
  .object({
    diff: z.string(),
    new_path: z.string(),
    old_path: z.string(),
    a_mode: z.string(),
    b_mode: z.string(),
    new_file: z.boolean(),
    renamed_file: z.boolean(),
    deleted_file: z.boolean(),
    too_large: z.boolean(),
    collapsed: z.boolean().meta({ description: 'Whether the text is left out because of `stat`' }),
    generated_file: z.boolean(),
    encoding: z.string().optional(),
    additions: lineCount,
    deletions: lineCount,
  })
  .meta({ id: 'DiffEntry', description: 'What a commit changed in one file' })

/** @param unified whether the text starts with the lines `---` and `+++` */
export const presentDiffEntry = (entry: DiffEntry, unified: boolean): z.output<typeof diffEntryShape> => ({
  diff: unified ? entry.header + entry.patch : entry.patch,
  new_path: entry.newPath,
  old_path: entry.oldPath,
  a_mode: entry.oldMode,
  b_mode: entry.newMode,
  new_file: entry.newFile,
  renamed_file: entry.renamedFile,
  deleted_file: entry.deletedFile,
  too_large: entry.tooLarge,
  collapsed: entry.lines !== undefined,
  generated_file: isGeneratedFile(entry.newPath),
  // Text that is not UTF-8 is read as one character a byte.
  ...(entry.encoding === 'latin1' && { encoding: 'iso-8859-1' }),
  ...entry.lines,
})

export const dryRunShape = z
  .object({ dry_run: z.literal('success'), diffs: z.array(diffEntryShape) })
  .meta({ id: 'DryRun', description: 'What a commit would change; nothing is stored' })

export const presentDryRun = (diffs: readonly DiffEntry[]): z.output<typeof dryRunShape> => ({
  dry_run: 'success',
  diffs: diffs.map((entry) => presentDiffEntry(entry, false)),
})
