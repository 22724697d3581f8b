import type { Database, Project } from '@switchyard/db'
import { decideProjectRight, type ProjectAccess } from '@switchyard/domain/access'
import type { LfsObject } from '@switchyard/domain/commit'
import { type Call, requestedUrl } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../guards.js'
import { findObjects as findPackageObjects, getFile } from '../packages/packages.js'
import { findObjects as findUploadObjects, getUpload } from '../uploads/uploads.js'

/** Where a file of the project is. */
type OwnPlace =
  | { kind: 'package'; name: string; version: string; fileName: string }
  | { kind: 'upload'; secret: string; fileName: string }

/**
 * Finds the file of the same project that an address of this installation names.
 *
 * @returns null for an address of another server or project and of anything else, and for a package that the caller may not read
 * @throws DomainError not-found when there is no such file any more
 */
export async function findOwnFile(
  database: Database,
  access: ProjectCall,
  url: string,
  call: Pick<Call, 'baseUrl' | 'raw'>,
): Promise<{ oid: string; fileName: string } | null> {
  const place = placeOf(url, access.project, call)
  if (!place) return null
  if (place.kind === 'upload')
    return getUpload(database, access, { secret: place.secret, fileName: place.fileName })
  if (!mayReadPackages(access)) return null
  const { oid, fileName } = await getFile(database, access, place)
  return { oid, fileName: fileName.split('/').at(-1) ?? fileName }
}

const mayReadPackages = ({ project, caller, memberLevel }: ProjectCall) =>
  decideProjectRight('read_code', project as ProjectAccess, caller, memberLevel) === 'allowed'

/**
 * Finds out which of some addresses are those of files of the same project that the caller may read.
 *
 * @returns the object of each file by its address; every other address is left out
 */
export async function findOwnObjects(
  database: Database,
  access: ProjectCall,
  urls: readonly string[],
  call: Pick<Call, 'baseUrl' | 'raw'>,
): Promise<ReadonlyMap<string, LfsObject>> {
  const packages: { url: string; place: OwnPlace & { kind: 'package' } }[] = []
  const uploads: { url: string; place: OwnPlace & { kind: 'upload' } }[] = []
  for (const url of new Set(urls)) {
    const place = placeOf(url, access.project, call)
    if (place?.kind === 'upload') uploads.push({ url, place })
    else if (place && mayReadPackages(access)) packages.push({ url, place })
  }
  const [inPackages, uploaded] = await Promise.all([
    findPackageObjects(
      database,
      access,
      packages.map(({ place }) => place),
    ),
    findUploadObjects(
      database,
      access,
      uploads.map(({ place }) => place),
    ),
  ])
  const byUrl = (places: readonly { url: string }[], objects: ReadonlyMap<number, LfsObject>) =>
    [...objects].map(([index, object]) => [places[index]?.url ?? '', object] as const)
  return new Map([...byUrl(packages, inPackages), ...byUrl(uploads, uploaded)])
}

/** The parts of the path of an address of this installation; none for every other address. */
function ownParts(url: string, { baseUrl, raw }: Pick<Call, 'baseUrl' | 'raw'>): string[] {
  if (!URL.canParse(url)) return []
  const { origin, pathname } = new URL(url)
  const own = [baseUrl, requestedUrl(raw.request)].filter((each) => URL.canParse(each))
  return own.some((each) => new URL(each).origin === origin) ? decodedParts(pathname) : []
}

/** @returns null for an address that names no file of this project */
function placeOf(
  url: string,
  { id, pathKey }: Project,
  call: Pick<Call, 'baseUrl' | 'raw'>,
): OwnPlace | null {
  const parts = ownParts(url, call)
  const names = (reference = '') => reference === String(id) || reference.toLowerCase() === pathKey
  const [first, second, third, ...below] = parts
  const uploaded = ([place, secret, fileName, ...more]: string[]): OwnPlace | null =>
    place === 'uploads' && secret !== undefined && fileName !== undefined && more.length === 0
      ? { kind: 'upload', secret, fileName }
      : null
  if (first === 'api' && second === 'v4' && third === 'projects') {
    const [reference, kind, type, name, version, ...file] = below
    if (!names(reference)) return null
    if (kind !== 'packages') return uploaded(below.slice(1))
    if (type !== 'generic' || name === undefined || version === undefined || file.length === 0) return null
    return { kind: 'package', name, version, fileName: file.join('/') }
  }
  if (first === '-' && second === 'project') return names(third) ? uploaded(below) : null
  return names(`${first}/${second}`) ? uploaded(parts.slice(2)) : null
}

/** The parts of a path, decoded; none when it cannot be decoded, or has what no name of a file can have. */
function decodedParts(pathname: string): string[] {
  try {
    const parts = pathname.split('/').slice(1).map(decodeURIComponent)
    return parts.some((part) => part.includes('\0')) ? [] : parts
  } catch {
    return []
  }
}
