import { tooLarge } from '@switchyard/domain'
import { objectChild } from './children/child-kinds.js'
import type { OpenRepository } from './open-repository.js'

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
export async function readObject(repository: OpenRepository, name: string): Promise<StoredObject | null> {
  const { path, engine } = repository
  const question = { input: `contents ${name}\n`, answerBytesMax, timeoutMs }
  const { bytes, truncated } = await engine.children.ask(path, objectChild, question, repository)
  if (truncated) throw tooLarge('The repository has an object that is too large to read')
  return parseObject(bytes)
}

export interface ObjectFacts {
  type: string
  /** Bytes. */
  size: number
}

/** Type and size of an object; null when there is no such object. */
export async function findObject(repository: OpenRepository, id: string): Promise<ObjectFacts | null> {
  return (await findObjects(repository, [id])).get(id) ?? null
}

const factsLineBytes = 100

/** Types and sizes by object id; objects that do not exist are left out. */
export async function findObjects(
  repository: OpenRepository,
  ids: readonly string[],
): Promise<Map<string, ObjectFacts>> {
  const { path, engine } = repository
  const input = ids.map((id) => `info ${id}\n`).join('')
  const question = { input, answerBytesMax: factsLineBytes * (ids.length + 1), timeoutMs }
  const { bytes } = await engine.children.ask(path, objectChild, question, repository)
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

function parseObject(answer: Buffer): StoredObject | null {
  const lineEnd = answer.indexOf(10)
  const found = header.exec(answer.toString('latin1', 0, lineEnd))
  if (!found) return null
  const [, id = '', type = '', size] = found
  return { id, type, content: answer.subarray(lineEnd + 1, lineEnd + 1 + Number(size)) }
}
