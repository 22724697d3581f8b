import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Duplex } from 'node:stream'
import { DomainError } from '@switchyard/domain'
import type { TakeSpace } from '../repository.js'

const noAnswer = 'The push could not be checked. Try again in a moment.'

/**
 * Answers the hook `pre-receive` of a push: whether there is room for the received objects. Without room, git
 * removes the objects, and the client sees the reason.
 *
 * @param hook stream to the hook; it ends without data when the push brings no objects
 * @param path of the bare repository
 */
export async function answerRoom(hook: Duplex, path: string, takeSpace: TakeSpace): Promise<void> {
  // A hook that has ended does not read the answer.
  hook.on('error', () => undefined)
  const folder = await readLine(hook)
  if (folder === null) return
  let answer = noAnswer
  try {
    await takeSpace(await bytesBelow(resolve(path, folder)))
    answer = 'ok'
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    answer = error.message
  } finally {
    hook.end(`${answer.replaceAll('\n', ' ')}\n`)
    hook.resume()
  }
}

/** Reads the first line; null when there is none. */
async function readLine(hook: Duplex): Promise<string | null> {
  for await (const line of createInterface({ input: hook })) return line
  return null
}

/** Counts the bytes of the files below a folder. */
async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(join(folder, name))
    if (found.isFile()) bytes += found.size
  }
  return bytes
}
