import { tooLarge } from '@switchyard/domain'
import { objectChild } from '../processes/child-kinds.js'
import type { Repository } from '../repository.js'

export interface StoredObject {
  id: string
  /** `commit`, `tree`, `blob` or `tag`. */
  type: string
  content: Buffer
}

const answerBytesMax = 64 * 1024 * 1024
const timeoutMs = 60_000

/**
 * Reads an object; null when it does not exist.
 *
 * @param name an object id, or a checked revision with its type, such as `main^{commit}`
 * @throws DomainError too-large for an object over 64 MB
 */
export const readObject = async (repository: Repository, name: string): Promise<StoredObject | null> =>
  (await readObjects(repository, [name]))[0] ?? null

/**
 * Reads objects in the order of their names. Missing objects are left out.
 *
 * @param names as for {@link readObject}
 * @throws DomainError too-large for objects of more than 64 MB together
 */
export async function readObjects(repository: Repository, names: readonly string[]): Promise<StoredObject[]> {
  const input = names.map((name) => `contents ${name}\n`).join('')
  const question = { input, answerBytesMax, timeoutMs }
  const { bytes, truncated } = await repository.engine.children.ask(repository, objectChild, question)
  if (truncated) throw tooLarge('The repository has an object that is too large to read')
  return parseObjects(bytes)
}

export interface ObjectFacts {
  type: string
  /** Size in bytes. */
  size: number
}

/** Returns type and size of an object; null when there is no such object. */
export async function findObject(repository: Repository, id: string): Promise<ObjectFacts | null> {
  return (await findObjects(repository, [id])).get(id) ?? null
}

const factsLineBytes = 100

/** Returns types and sizes by object id; missing objects are left out. */
export async function findObjects(
  repository: Repository,
  ids: readonly string[],
): Promise<Map<string, ObjectFacts>> {
  const input = ids.map((id) => `info ${id}\n`).join('')
  const question = { input, answerBytesMax: factsLineBytes * (ids.length + 1), timeoutMs }
  const { bytes } = await repository.engine.children.ask(repository, objectChild, question)
  const found = bytes
    .toString('latin1')
    .split('\n')
    .map((line) => header.exec(line))
  return new Map(
    found.flatMap((line) =>
      line ? [[line[1] ?? '', { type: line[2] ?? '', size: Number(line[3]) }] as const] : [],
    ),
  )
}

const header = /^([0-9a-f]{40}) (\w+) (\d+)$/

function parseObjects(answer: Buffer): StoredObject[] {
  const objects: StoredObject[] = []
  for (let at = 0; at < answer.length; ) {
    const lineEnd = answer.indexOf('\n', at)
    const found = header.exec(answer.toString('latin1', at, lineEnd))
    at = lineEnd + 1
    // The line says that the object is missing.
    if (!found) continue
    const [, id = '', type = '', size] = found
    const end = at + Number(size)
    objects.push({ id, type, content: answer.subarray(at, end) })
    at = end + '\n'.length
  }
  return objects
}
