import type { Database, Project } from '@switchyard/db'
import type { LfsObject } from '@switchyard/domain/commit'
import { type Call, requestedUrl } from '@switchyard/service-kit/http'
import { mayReadCode, type ProjectCall } from '../../guards.js'
import { findObjects as findPackageObjects, getFile } from '../packages/packages.js'
import { findObjects as findUploadObjects, getUpload } from '../uploads/uploads.js'

/** The path of a file of the project. */
type OwnPath =
  | { kind: 'package'; name: string; version: string; fileName: string }
  | { kind: 'upload'; secret: string; fileName: string }

/** A file of the project itself that a link leads to. */
export interface OwnFile {
  oid: string
  fileName: string
}

/**
 * Finds the file of the same project that an address of this installation names.
 *
 * @returns null for every other address, and for a package that the caller may not read
 * @throws DomainError not-found when the file no longer exists
 */
export async function findOwnFile(
  database: Database,
  access: ProjectCall,
  url: string,
  call: Pick<Call, 'baseUrl' | 'raw'>,
): Promise<OwnFile | null> {
  const path = ownPathOf(url, access.project, call)
  if (!path) return null
  if (path.kind === 'upload')
    return getUpload(database, access, { secret: path.secret, fileName: path.fileName })
  if (!mayReadCode(access)) return null
  const { oid, fileName } = await getFile(database, access, path)
  return { oid, fileName: fileName.split('/').at(-1) ?? fileName }
}

/**
 * Finds the addresses that name files of the same project that the caller may read.
 *
 * @returns the object of each file by its address; every other address is left out
 */
export async function findOwnObjects(
  database: Database,
  access: ProjectCall,
  urls: readonly string[],
  call: Pick<Call, 'baseUrl' | 'raw'>,
): Promise<ReadonlyMap<string, LfsObject>> {
  const packages: { url: string; path: OwnPath & { kind: 'package' } }[] = []
  const uploads: { url: string; path: OwnPath & { kind: 'upload' } }[] = []
  for (const url of new Set(urls)) {
    const path = ownPathOf(url, access.project, call)
    if (path?.kind === 'upload') uploads.push({ url, path })
    else if (path && mayReadCode(access)) packages.push({ url, path })
  }
  const [inPackages, uploaded] = await Promise.all([
    findPackageObjects(
      database,
      access,
      packages.map(({ path }) => path),
    ),
    findUploadObjects(
      database,
      access,
      uploads.map(({ path }) => path),
    ),
  ])
  const byUrl = (files: readonly { url: string }[], objects: ReadonlyMap<number, LfsObject>) =>
    [...objects].map(([index, object]) => [files[index]?.url ?? '', object] as const)
  return new Map([...byUrl(packages, inPackages), ...byUrl(uploads, uploaded)])
}

/** Returns the path segments of an address of this installation; none for every other address. */
function ownParts(url: string, { baseUrl, raw }: Pick<Call, 'baseUrl' | 'raw'>): string[] {
  if (!URL.canParse(url)) return []
  const { origin, pathname } = new URL(url)
  const own = [baseUrl, requestedUrl(raw.request)].filter((each) => URL.canParse(each))
  return own.some((each) => new URL(each).origin === origin) ? decodedParts(pathname) : []
}

/** @returns null for an address that names no file of this project */
function ownPathOf(
  url: string,
  { id, pathKey }: Project,
  call: Pick<Call, 'baseUrl' | 'raw'>,
): OwnPath | null {
  const parts = ownParts(url, call)
  const names = (reference = '') => reference === String(id) || reference.toLowerCase() === pathKey
  const [first, second, third, ...below] = parts
  const uploaded = ([folder, secret, fileName, ...more]: string[]): OwnPath | null =>
    folder === 'uploads' && secret !== undefined && fileName !== undefined && more.length === 0
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

/**
 * Returns the decoded segments of a path; none when it cannot be decoded, or contains something that no file
 * name may contain.
 */
function decodedParts(pathname: string): string[] {
  try {
    const parts = pathname.split('/').slice(1).map(decodeURIComponent)
    return parts.some((part) => part.includes('\0')) ? [] : parts
  } catch {
    return []
  }
}
