import { randomBytes } from 'node:crypto'
import { type Database, inTransaction, type Rows, type Upload } from '@switchyard/db'
import { forbidden, notFound, tooLarge } from '@switchyard/domain'
import { accessLevels, type Caller } from '@switchyard/domain/access'
import type { LfsObject } from '@switchyard/domain/commit'
import { largestFile } from '@switchyard/git-storage/lfs'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { noteFile, receiveFile, type StoredFileDependencies } from '../stored-files/stored-files.js'
import { uploadNameOf } from './file-names.js'
import { receiveForm } from './receive-form.js'
import type { StoredUpload, UploadKey } from './store.js'
import * as store from './store.js'

export interface UploadDependencies extends ProjectResourceDependencies, StoredFileDependencies {
  /** Size of the largest file. */
  uploadBytesMax: number
}

/** Most bytes of a form besides its file. */
const formBytesMax = 2 * 1024 * 1024

/**
 * Stores the file of a form while it arrives, at an address that nobody can guess. All signed-in users may
 * comment on a public project, but only its members may use its space.
 *
 * @throws DomainError forbidden; invalid-parameters for a malformed form; as {@link receiveFile} and
 *   {@link noteFile}
 */
export async function storeUpload(
  deps: UploadDependencies,
  access: ProjectCall<Caller>,
  announcedBytes: number | undefined,
  call: Call,
): Promise<Upload> {
  const { project, caller, level, memberLevel } = access
  if (memberLevel === null && level < accessLevels.reporter)
    throw forbidden('Only members of the project may upload files')
  const { transferIdleMs: idleMs, uploadBytesMax: bytesMax } = deps
  if (announcedBytes !== undefined && announcedBytes > bytesMax + formBytesMax)
    throw tooLarge(largestFile(bytesMax))
  const receive = (chunks: AsyncIterable<Buffer>) =>
    receiveFile(deps, access, { chunks, bytesMax, announcedBytes: undefined }, call)
  const { fileName, stored } = await receiveForm(call, { idleMs, store: receive })
  const upload = {
    projectId: project.id,
    secret: randomBytes(16).toString('hex'),
    fileName: uploadNameOf(fileName),
    uploaderId: caller.user.id,
  }
  const made = await noteFile(deps.database, call, (transaction) =>
    store.createUpload(transaction, upload, stored),
  )
  deps.messages.requestHousekeeping(project.id)
  return made
}

/** Returns one page of the uploads of a project, newest first, and the number of all. */
export const listUploads = (
  database: Database,
  { project }: ProjectCall,
  rows: Rows,
): Promise<{ uploads: StoredUpload[]; total: number }> => store.listUploads(database, project.id, rows)

/** @throws DomainError not-found */
export async function getUpload(
  database: Database,
  { project }: Pick<ProjectCall, 'project'>,
  key: UploadKey,
): Promise<Upload> {
  const upload = await store.findUpload(database, project.id, key)
  if (!upload) throw notFound('Upload')
  return upload
}

/**
 * Returns the objects of some uploads, by the index of the address. An address without an upload is left out.
 */
export async function findObjects(
  database: Database,
  { project }: Pick<ProjectCall, 'project'>,
  addresses: readonly Pick<Upload, 'secret' | 'fileName'>[],
): Promise<Map<number, LfsObject>> {
  if (addresses.length === 0) return new Map()
  const secrets = addresses.map(({ secret }) => secret)
  const bySecret = new Map(
    (await store.listUploadsBySecret(database, project.id, secrets)).map((each) => [each.secret, each]),
  )
  return new Map(
    addresses.flatMap(({ secret, fileName }, index) => {
      const found = bySecret.get(secret)
      return found?.fileName === fileName
        ? [[index, { oid: found.oid, size: Number(found.object.size) }] as const]
        : []
    }),
  )
}

/** @throws DomainError not-found */
export async function removeUpload(
  { database, messages }: UploadDependencies,
  { project }: ProjectCall,
  key: UploadKey,
): Promise<void> {
  const isRemoved = await inTransaction(database, (transaction) =>
    store.deleteUpload(transaction, project.id, key),
  )
  if (!isRemoved) throw notFound('Upload')
  messages.requestHousekeeping(project.id)
}
