import type { Database, Project } from '@switchyard/db'
import { decideProjectRight, type ProjectAccess } from '@switchyard/domain/access'
import { type Call, requestedUrl } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../guards.js'
import { getFile } from '../packages/packages.js'
import { getUpload } from '../uploads/uploads.js'

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
  { baseUrl, raw }: Pick<Call, 'baseUrl' | 'raw'>,
): Promise<{ oid: string; fileName: string } | null> {
  if (!URL.canParse(url)) return null
  const { origin, pathname } = new URL(url)
  const own = [baseUrl, requestedUrl(raw.request)].filter((each) => URL.canParse(each))
  if (!own.some((each) => new URL(each).origin === origin)) return null
  const place = placeOf(pathname, access.project)
  if (!place) return null
  if (place.kind === 'upload')
    return getUpload(database, access, { secret: place.secret, fileName: place.fileName })
  const { project, caller, memberLevel } = access
  if (decideProjectRight('read_code', project as ProjectAccess, caller, memberLevel) !== 'allowed')
    return null
  const { oid, fileName } = await getFile(database, access, place)
  return { oid, fileName: fileName.split('/').at(-1) ?? fileName }
}

/** @returns null for a path that names no file of this project */
function placeOf(pathname: string, { id, pathKey }: Project): OwnPlace | null {
  const parts = decodedParts(pathname)
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

/** The parts of a path, decoded; none when it cannot be decoded. */
function decodedParts(pathname: string): string[] {
  try {
    return pathname.split('/').slice(1).map(decodeURIComponent)
  } catch {
    return []
  }
}
