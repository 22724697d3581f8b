import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The folders of the packages that these files belong to, without those of this workspace. */
export const foldersOf = (files) => [
  ...new Set(files.map(folderOf).filter((folder) => /node_modules|opt\/yarn-v/.test(folder))),
]

/** Name, version and licence of the packages that these files belong to, without those of this workspace. */
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

/** Old packages write their licence as an object, or a list of those that one may choose from. */
function licenseOf({ license, licenses = [] }) {
  if (license) return license.type ?? license
  return licenses.map(({ type }) => type).join(' OR ') || undefined
}

/**
 * The nearest folder whose package.json has a name and a version: some packages have others inside, with a
 * type only.
 */
function folderOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (!existsSync(join(folder, 'package.json'))) continue
    const { name, version } = readManifest(folder)
    if (name && version) return folder
  }
  return undefined
}
