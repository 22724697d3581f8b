import { ApiError, getPage, segment, send } from '../../../api/client'
import { noteUnauthorized } from '../../../api/session-end'
import { type Transfer, upload } from '../../../api/upload'
import type { PublishedFile, ReleaseLink } from '../../../generated/types.gen'
import { addressNameOf, packageAddressOf, versionOf } from './release-names'

/** The package of a project that has the files which the console adds to releases; its versions are their tags. */
const packageName = 'release-files'

interface Place {
  /** Of the project in the API. */
  project: string
  tag: string
}

const linksOf = ({ project, tag }: Place) => `${project}/releases/${segment(tag)}/assets/links`

/** Files that were stored and could not be linked: they are not sent again. */
const withoutLink = new WeakMap<File, PublishedFile>()

/** Stores a file as one of a package, and links it to a release. @throws ApiError; the reason of the signal */
export async function storeReleaseFile(
  place: Place,
  file: File,
  linkType: ReleaseLink['link_type'],
  transfer: Transfer,
): Promise<void> {
  const fileName = addressNameOf(file.name)
  await requireFree(place, file.name, fileName)
  const stored = withoutLink.get(file) ?? (await storeInPackage(place, fileName, file, transfer))
  withoutLink.set(file, stored)
  const link = {
    name: file.name,
    url: stored.file.url,
    direct_asset_path: `/${fileName}`,
    link_type: linkType,
  }
  await send('POST', linksOf(place), link)
}

const storeInPackage = ({ project, tag }: Place, fileName: string, body: File, transfer: Transfer) =>
  upload<PublishedFile>(
    {
      method: 'PUT',
      path: `${project}/packages/generic/${[packageName, versionOf(tag), fileName].map(segment).join('/')}`,
      query: { select: 'package_file' },
      body,
    },
    transfer,
  )

const linksMax = 100

/** Refuses a name that cannot be linked before its bytes are sent. */
async function requireFree(place: Place, name: string, fileName: string): Promise<void> {
  if (!/^[\w.-]{1,127}$/.test(fileName) || /^\.+$/.test(fileName))
    throw new ApiError(400, 'Its name is too long, or has no letter or digit. Rename it.')
  const { rows } = await getPage<ReleaseLink>(linksOf(place), { per_page: linksMax }).catch(whenMissing)
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

/** Without a session, a private project is not found: asks whether that is the reason. */
function whenMissing(error: unknown): never {
  if (!(error instanceof ApiError && error.status === 404)) throw error
  noteUnauthorized()
  throw new ApiError(404, 'The release is gone, or your session has ended.')
}

/** Takes a file from a release, and deletes it as well when it is one of a package. */
export async function removeReleaseFile(
  place: Place,
  link: ReleaseLink,
  deletesFile: boolean,
): Promise<void> {
  const address = deletesFile ? packageAddressOf(link) : undefined
  // The link goes last: until then it can be tried again.
  if (address !== undefined) await send('DELETE', address).catch(unlessMissing)
  await send('DELETE', `${linksOf(place)}/${link.id}`).catch(unlessMissing)
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}
