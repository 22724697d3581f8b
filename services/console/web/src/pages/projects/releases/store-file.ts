import { ApiError, getPage, segment, send } from '../../../api/client'
import { noteUnauthorized } from '../../../api/session-end'
import { type Transfer, upload } from '../../../api/upload'
import type { PublishedFile, ReleaseLink } from '../../../generated/types.gen'
import { serverNow } from '../../../lib/server-clock'
import { addressNameOf, packageAddressOf, versionOf } from './release-names'

/** The package with the files that the console adds to releases; its versions are the tags. */
const packageName = 'release-files'

interface ReleaseAddress {
  /** Address of the project in the API. */
  project: string
  tag: string
}

const linksOf = ({ project, tag }: ReleaseAddress) => `${project}/releases/${segment(tag)}/assets/links`

/** Files that were stored but could not be linked, so that they are not sent again. */
const withoutLink = new WeakMap<File, { stored: PublishedFile; isNew: boolean }>()

/**
 * Stores a file in a package, and links it to a release. A canceled file leaves neither.
 *
 * @throws ApiError; the reason of the signal
 */
export async function storeReleaseFile(
  release: ReleaseAddress,
  file: File,
  linkType: ReleaseLink['link_type'],
  transfer: Transfer,
): Promise<void> {
  const fileName = addressNameOf(file.name)
  await requireFree(release, file.name, fileName)
  const { stored } = withoutLink.get(file) ?? (await storeInPackage(release, fileName, file, transfer))
  const { signal } = transfer
  const link = {
    name: file.name,
    url: stored.file.url,
    direct_asset_path: `/${fileName}`,
    link_type: linkType,
  }
  try {
    const { id } = await send<ReleaseLink>('POST', linksOf(release), link)
    if (signal.aborted) await send('DELETE', `${linksOf(release)}/${id}`)
    else withoutLink.delete(file)
  } finally {
    if (signal.aborted) await discardReleaseFile(release, file)
  }
}

/** Deletes a file that was stored but not linked. The file stays when the sender may not delete it. */
export async function discardReleaseFile(release: ReleaseAddress, file: File): Promise<void> {
  const made = withoutLink.get(file)
  withoutLink.delete(file)
  if (!made?.isNew) return
  const { id, package_id, file: sent } = made.stored
  try {
    const { rows } = await getPage<ReleaseLink>(linksOf(release), { per_page: linksMax })
    // The link may be stored although its answer was lost.
    if (rows.some(({ url }) => url === sent.url)) return
    await send('DELETE', `${release.project}/packages/${package_id}/package_files/${id}`)
  } catch {
    // The file stays in the package until the package is deleted.
  }
}

async function storeInPackage(
  { project, tag }: ReleaseAddress,
  fileName: string,
  body: File,
  transfer: Transfer,
) {
  const path = `${project}/packages/generic/${[packageName, versionOf(tag), fileName].map(segment).join('/')}`
  const query = { select: 'package_file' }
  const beganMs = serverNow()
  const stored = await upload<PublishedFile>({ method: 'PUT', path, query, body }, transfer)
  // When the newest file of the name has the same bytes, it stays.
  const made = { stored, isNew: Date.parse(stored.created_at) >= beganMs }
  withoutLink.set(body, made)
  return made
}

const linksMax = 100

/** Refuses a name that cannot be linked, before the bytes are sent. */
async function requireFree(release: ReleaseAddress, name: string, fileName: string): Promise<void> {
  if (!/^[\w.-]{1,127}$/.test(fileName) || /^\.+$/.test(fileName))
    throw new ApiError(400, 'Its name is too long, or has no letter or digit. Rename it.')
  const { rows } = await getPage<ReleaseLink>(linksOf(release), { per_page: linksMax }).catch(whenMissing)
  const isTaken = rows.some(
    (link) =>
      link.name === name || new URL(link.direct_asset_url).pathname.endsWith(`/downloads/${fileName}`),
  )
  if (isTaken)
    throw new ApiError(
      409,
      'The release has a file of this name. Rename yours, or have the other one removed.',
    )
  if (rows.length >= linksMax) throw new ApiError(409, `A release can have ${linksMax} files at most.`)
}

/**
 * Checks whether an ended session is the reason for a missing project, because a private project is not found
 * without a session.
 */
function whenMissing(error: unknown): never {
  if (!(error instanceof ApiError && error.status === 404)) throw error
  noteUnauthorized()
  throw new ApiError(404, 'The release is gone, or your session has ended.')
}

/** Removes a file from a release, and deletes it when it belongs to a package. */
export async function removeReleaseFile(
  release: ReleaseAddress,
  link: ReleaseLink,
  deletesFile: boolean,
): Promise<void> {
  const address = deletesFile ? packageAddressOf(link) : undefined
  // The link is deleted last, so that a failed removal can be tried again.
  if (address !== undefined) await send('DELETE', address).catch(unlessMissing)
  await send('DELETE', `${linksOf(release)}/${link.id}`).catch(unlessMissing)
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}
