import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { branchRef, type LfsObject } from '@switchyard/domain/commit'
import { findLfsObject, storeLfsObject } from './lfs/lfs-objects.js'
import { syncFolder } from './objects/durable-files.js'
import { runGitOk } from './processes/git-process.js'
import { createRepository, deleteRepository } from './repository-files.js'

/** The repository that a copy is made from, at its HTTP address for git. */
export interface Original {
  url: string
  /** A header of every request: `Name: value`. */
  header: string
}

/**
 * An unfinished copy of a repository of another storage. It is in a separate folder until `settle` moves the
 * copy to its final path.
 */
export interface ArrivingRepository {
  /** Fetches all references, including hidden ones, and the objects that the copy lacks. */
  fetch(signal: AbortSignal): Promise<void>
  /** Returns the size in bytes of a stored object of Git LFS; null: the copy lacks the object. */
  findLfsObject(oid: string): Promise<number | null>
  /**
   * Stores an object of Git LFS.
   *
   * @throws DomainError invalid when the bytes are not those of the object
   */
  storeLfsObject(object: LfsObject, chunks: AsyncIterable<Buffer>): Promise<void>
  /**
   * Checks that every object is there.
   *
   * @throws Error when an object that a reference leads to is missing
   */
  checkObjects(signal: AbortSignal): Promise<void>
  /**
   * Checks that the references are complete.
   *
   * @throws Error when the references of copy and original differ
   */
  checkReferences(signal: AbortSignal): Promise<void>
  /**
   * Moves the copy to the path of the repository. A repository that an earlier move left there is deleted.
   */
  settle(defaultBranch: string): Promise<void>
  /** Deletes the copy. Does nothing after `settle`. */
  discard(): Promise<void>
}

/** Limits for a large repository, which may take hours, and whose objects may take much memory. */
const limits = { timeoutMs: 12 * 3_600_000, memoryBytesMax: 4 * 1024 ** 3 }
const referenceBytesMax = 256 * 1024 * 1024

/**
 * Starts an empty copy.
 *
 * @param diskPath path of the repository, the same in both storages
 */
export async function receiveRepository(
  storageRoot: string,
  diskPath: string,
  original: Original,
): Promise<ArrivingRepository> {
  const arriving = `${diskPath}.arriving`
  const discard = () => deleteRepository(storageRoot, arriving)
  await discard()
  await createRepository(storageRoot, arriving, 'main')
  const path = join(storageRoot, arriving)
  const remote = remoteCommands(path, original)
  return {
    fetch: (signal) => remote.fetch(signal),
    findLfsObject: (oid) => findLfsObject({ path }, oid),
    storeLfsObject: (object, chunks) => storeLfsObject({ path }, object, chunks),
    async checkObjects(signal) {
      const flags = ['--connectivity-only', '--no-dangling', '--no-progress']
      await runGitOk(path, { command: 'fsck', flags }, { ...limits, signal })
    },
    async checkReferences(signal) {
      const [here, there] = await Promise.all([listReferences(path, signal), remote.listReferences(signal)])
      if (here !== there) throw new Error('the references of the copy differ from those of the original')
    },
    async settle(defaultBranch) {
      await runGitOk(path, { command: 'symbolic-ref', paths: ['HEAD', branchRef(defaultBranch)] })
      await deleteRepository(storageRoot, diskPath)
      const target = join(storageRoot, diskPath)
      await rename(path, target)
      await syncFolder(dirname(target))
    },
    discard,
  }
}

function remoteCommands(path: string, { url, header }: Original) {
  const settings = {
    'http.extraHeader': header,
    // The header has a secret that only the server of the original may see.
    'http.followRedirects': 'false',
    'http.lowSpeedLimit': '1',
    'http.lowSpeedTime': '60',
    // Small fetches are stored as packs, too, because git makes a pack durable as a whole.
    'fetch.unpackLimit': '1',
  }
  const variables = { GIT_ALLOW_PROTOCOL: 'http:https' }
  return {
    async fetch(signal: AbortSignal) {
      const flags = [
        '--prune',
        '--no-tags',
        '--force',
        '--quiet',
        '--no-write-fetch-head',
        '--update-head-ok',
      ]
      const fetch = { command: 'fetch', flags, paths: [url, '+refs/*:refs/*'] }
      await runGitOk(path, fetch, { ...limits, settings, variables, signal })
    },
    async listReferences(signal: AbortSignal) {
      const options = { settings, variables, signal, stdoutBytesMax: referenceBytesMax }
      const { stdout } = await runGitOk(
        path,
        { command: 'ls-remote', flags: ['--refs'], paths: [url] },
        options,
      )
      return sorted(stdout.toString().replaceAll('\t', ' '))
    },
  }
}

async function listReferences(path: string, signal: AbortSignal): Promise<string> {
  const command = { command: 'for-each-ref', flags: ['--format=%(objectname) %(refname)'] }
  const { stdout } = await runGitOk(path, command, { signal, stdoutBytesMax: referenceBytesMax })
  return sorted(stdout.toString())
}

const sorted = (lines: string) => lines.split('\n').sort().join('\n')
