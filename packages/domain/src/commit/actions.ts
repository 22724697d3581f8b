import { invalid } from '../errors.js'
import { excerpt } from '../texts.js'
import { parseFilePath } from './file-path.js'

export const actionNames = ['create', 'update', 'delete', 'move', 'chmod', 'upsert'] as const
/**
 * The names of actions. `submodule` moves a submodule to another commit; it has a call of its own, so lists
 * of actions cannot contain it.
 */
export type ActionName = (typeof actionNames)[number] | 'submodule'

export interface CommitAction {
  action: ActionName
  file_path: string
  /** Former path of a moved file. */
  previous_path?: string | undefined
  /** Text, base64, or decoded bytes; undefined: not sent. */
  content?: string | Uint8Array | undefined
  encoding: 'text' | 'base64'
  execute_filemode?: boolean | undefined
  /** New commit of a submodule: a full hash. */
  commit_id?: string | undefined
  /** The commit that last changed the file, as the caller knows it. */
  last_commit_id?: string | undefined
}

/** An action that has passed the checks that need no tree. */
export interface TreeEdit {
  action: ActionName
  /** Names in the path as trees store them, one character for each byte. */
  path: string[]
  /** Path before the action; equal to `path` unless the file is moved. */
  previousPath: string[]
  content: Uint8Array | null
  executable: boolean | null
  /** The new commit of a submodule. */
  commitId: string | null
  /** Path as sent, for messages and git commands. */
  filePath: string
  previousFilePath: string
  lastCommitId: string | null
}

/** Returns the error for a commit with an invalid action, with the index of the action and its file. */
export const refuseAction = (index: number, filePath: string, detail: string) =>
  invalid(detail, { extra: { action_index: index, file_path: excerpt(filePath) } })

/**
 * Most names in the paths of all actions together. It is limited because a commit writes a tree for each
 * folder.
 */
const namesMax = 500_000

/**
 * Checks the actions of a commit.
 *
 * @throws DomainError invalid, for the first invalid action
 */
export function readActions(actions: readonly CommitAction[]): TreeEdit[] {
  let names = 0
  return actions.map((action, index) => {
    const refuse = (detail: string) => refuseAction(index, action.file_path, detail)
    names += action.file_path.split('/').length
    if (names > namesMax) {
      throw refuse(`The paths of a commit can have ${namesMax} folders and files together at most`)
    }
    const needed = missingParameter(action)
    if (needed) {
      throw refuse(`400 Bad request - actions[${index}][${needed}] is required for ${action.action} action`)
    }
    const filePath = action.file_path
    const previousFilePath = action.action === 'move' ? (action.previous_path ?? '') : filePath
    return {
      action: action.action,
      path: readPath(filePath, refuse),
      previousPath: readPath(previousFilePath, refuse),
      content: readContent(action, refuse),
      executable: action.execute_filemode ?? null,
      commitId: action.commit_id ?? null,
      filePath,
      previousFilePath,
      lastCommitId: action.last_commit_id || null,
    }
  })
}

function missingParameter({ action, content, previous_path, execute_filemode }: CommitAction): string | null {
  const writes = action === 'create' || action === 'update' || action === 'upsert'
  if (writes && content === undefined) return 'content'
  if (action === 'move' && !previous_path) return 'previous_path'
  if (action === 'chmod' && execute_filemode === undefined) return 'execute_filemode'
  return null
}

type Refuse = (detail: string) => Error

function readPath(path: string, refuse: Refuse): string[] {
  const parts = parseFilePath(path)
  if (parts === 'traversal') throw refuse('Path cannot include directory traversal')
  if (parts === 'invalid') throw refuse(`invalid path: '${excerpt(path)}'`)
  return parts
}

function readContent({ action, content, encoding }: CommitAction, refuse: Refuse): Uint8Array | null {
  if (content === undefined || action === 'delete' || action === 'chmod') return null
  if (typeof content !== 'string') return content
  if (encoding === 'text') return Buffer.from(content, 'utf8')
  if (!isBase64(content)) throw refuse('content is not valid base64')
  return Buffer.from(content, 'base64')
}

/**
 * Returns whether a text is base64 of either alphabet, with white space anywhere and padding at the end only.
 */
export function isBase64(text: string): boolean {
  const trimmed = text.trimEnd()
  let end = trimmed.length
  while (trimmed[end - 1] === '=') end -= 1
  return /^[\w+/\s-]*$/.test(trimmed.slice(0, end))
}
