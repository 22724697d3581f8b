import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CommitAction, readActions } from './actions.js'
import { planTreeEdits } from './plan-tree-edits.js'
import { emptyFolder, putFile, type TreeFolder } from './tree.js'

type Files = Map<string, { mode: string; content: string }>

type TextAction = CommitAction & { content?: string | undefined }

const action = (given: Partial<CommitAction> & Pick<CommitAction, 'action' | 'file_path'>): CommitAction => ({
  encoding: 'text',
  ...given,
})

/** Returns the files of a tree as a flat list. A folder without files appears by its name. */
function flatten(folder: TreeFolder, prefix = ''): [string, string][] {
  const entries = [...(folder.entries ?? [])]
  if (entries.length === 0 && prefix !== '') return [[prefix, 'EMPTY FOLDER']]
  return entries.flatMap(([name, entry]): [string, string][] => {
    if (entry.kind === 'folder') return flatten(entry, `${prefix}${name}/`)
    return [[`${prefix}${name}`, `${entry.mode} ${Buffer.from(entry.blob as Uint8Array).toString()}`]]
  })
}

const sorted = (pairs: [string, string][]) => pairs.sort(([a], [b]) => (a < b ? -1 : 1))

/** Applies the same rules to a flat map of files: slow and obvious, and without trees. */
function applyToFlat(
  files: Files,
  { action: name, file_path: path, previous_path, content, execute_filemode }: TextAction,
) {
  const blocked = [...files.keys()].some((key) => key.startsWith(`${path}/`) || path.startsWith(`${key}/`))
  const file = files.get(path)
  const from = name === 'move' ? (previous_path ?? '') : path
  const source = files.get(from)
  const create = () => {
    if (file || blocked) return false
    files.set(path, { mode: execute_filemode ? '100755' : '100644', content: content ?? '' })
    return true
  }
  if (name === 'create') return create()
  if (name === 'upsert' && !file) return create()
  if (!source) return false
  if (name === 'delete') return files.delete(path)
  const mode = execute_filemode === undefined ? source.mode : execute_filemode ? '100755' : '100644'
  const next = { mode, content: name === 'chmod' ? source.content : (content ?? source.content) }
  if (name === 'move') {
    files.delete(from)
    const standsInTheWay = [...files.keys()].some(
      (key) => key === path || key.startsWith(`${path}/`) || path.startsWith(`${key}/`),
    )
    if (standsInTheWay) return false
  }
  files.set(path, next)
  return true
}

const path = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('/'))
const anyAction = fc.record({
  action: fc.constantFrom('create', 'update', 'delete', 'move', 'chmod', 'upsert' as const),
  file_path: path,
  previous_path: path,
  content: fc.constantFrom('x', 'y', ''),
  encoding: fc.constant('text' as const),
  execute_filemode: fc.boolean(),
})

test('any sequence of actions results in the same files as applying the actions one by one to a flat list', () => {
  fc.assert(
    fc.property(fc.array(anyAction, { maxLength: 12 }), (actions) => {
      const files: Files = new Map()
      const root = emptyFolder()
      let refusedAt: number | null = null
      for (const [index, next] of actions.entries()) {
        if (refusedAt === null && !applyToFlat(files, next)) refusedAt = index
      }
      const plan = () => planTreeEdits(root, readActions(actions))
      if (refusedAt !== null) {
        expect(plan).toThrow(
          expect.objectContaining({ extra: expect.objectContaining({ action_index: refusedAt }) }),
        )
        return
      }
      plan()
      const expected = [...files].map(([key, { mode, content }]): [string, string] => [
        key,
        `${mode} ${content}`,
      ])
      expect(sorted(flatten(root))).toEqual(sorted(expected))
    }),
    { numRuns: 2000 },
  )
})

test('a move without content keeps the content, and a move with empty content empties the file', () => {
  const root = emptyFolder()
  const edits = readActions([
    action({ action: 'create', file_path: 'a', content: 'text' }),
    action({ action: 'move', file_path: 'b', previous_path: 'a' }),
    action({ action: 'create', file_path: 'c', content: 'text' }),
    action({ action: 'move', file_path: 'd', previous_path: 'c', content: '' }),
  ])
  planTreeEdits(root, edits)
  expect(sorted(flatten(root))).toEqual([
    ['b', '100644 text'],
    ['d', '100644 '],
  ])
})

test('submodules and symbolic links keep their kind', () => {
  const root = emptyFolder()
  putFile(root, ['module'], { kind: 'file', mode: '160000', blob: '1'.repeat(40) })
  putFile(root, ['link'], { kind: 'file', mode: '120000', blob: '2'.repeat(40) })
  const refused = (given: Parameters<typeof action>[0], text: string) =>
    expect(() => planTreeEdits(root, readActions([action(given)]))).toThrow(text)
  refused({ action: 'update', file_path: 'module', content: 'x' }, 'A submodule has no content to change')
  refused({ action: 'submodule', file_path: 'link', commit_id: '3'.repeat(40) }, 'Invalid submodule path')
  refused({ action: 'submodule', file_path: 'none', commit_id: '3'.repeat(40) }, 'Invalid submodule path')
  refused({ action: 'chmod', file_path: 'link', execute_filemode: true }, 'Only a regular file')
  refused({ action: 'create', file_path: 'link/x', content: '' }, 'A file with this name already exists')
  refused({ action: 'move', file_path: '.gitmodules', previous_path: 'link' }, "invalid path: '.gitmodules'")
})

test('a change of a submodule sets its new commit, and changes nothing else', () => {
  const root = emptyFolder()
  putFile(root, ['lib', 'module'], { kind: 'file', mode: '160000', blob: '1'.repeat(40) })
  putFile(root, ['lib', 'file'], { kind: 'file', mode: '100644', blob: '2'.repeat(40) })
  const edits = readActions([
    action({ action: 'submodule', file_path: 'lib/module', commit_id: '3'.repeat(40) }),
  ])
  planTreeEdits(root, edits)
  expect(sorted(flatten(root))).toEqual([
    ['lib/file', `100644 ${'2'.repeat(40)}`],
    ['lib/module', `160000 ${'3'.repeat(40)}`],
  ])
  expect(() => planTreeEdits(root, edits)).toThrow('The submodule is already at')
})
