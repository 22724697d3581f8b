import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Returns the folders of the packages of these files, without those of this workspace. */
export const foldersOf = (files) => [
  ...new Set(files.map(folderOf).filter((folder) => /node_modules|opt\/yarn-v/.test(folder))),
]

/** Returns name, version and licence of the packages of these files, without those of this workspace. */
export function packagesOf(files) {
  const packages = foldersOf(files)
    .map(readManifest)
    .filter(({ name }) => !name.startsWith('@switchyard/'))
    .map((manifest) => ({ name: manifest.name, version: manifest.version, license: licenseOf(manifest) }))
  const key = ({ name, version }) => `${name}@${version}`
  return [...new Map(packages.map((item) => [key(item), item])).values()].sort((a, b) =>
    key(a) < key(b) ? -1 : 1,
  )
}

/** Returns the licence of a package. Old packages write it as an object, or as a list of alternatives. */
function licenseOf({ license, licenses = [] }) {
  if (license) return license.type ?? license
  return licenses.map(({ type }) => type).join(' OR ') || undefined
}

/**
 * Returns the nearest folder whose package.json has a name and a version, because some packages contain
 * others with only a type.
 */
function folderOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (!existsSync(join(folder, 'package.json'))) continue
    const { name, version } = readManifest(folder)
    if (name && version) return folder
  }
  return undefined
}
