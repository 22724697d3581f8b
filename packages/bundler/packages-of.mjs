import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Name, version and licence of the packages that these files belong to, without those of this workspace. */
export function packagesOf(files) {
  const folders = new Set(files.map(folderOf).filter((folder) => folder?.includes('node_modules')))
  const packages = [...folders]
    .map(readManifest)
    .map(({ name, version, license }) => ({ name, version, license }))
  const key = ({ name, version }) => `${name}@${version}`
  return [...new Map(packages.map((item) => [key(item), item])).values()].sort((a, b) =>
    key(a) < key(b) ? -1 : 1,
  )
}

/** The nearest folder whose package.json has a name and a version: some packages have others inside, with a type only. */
function folderOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (!existsSync(join(folder, 'package.json'))) continue
    const { name, version } = readManifest(folder)
    if (name && version) return folder
  }
  return undefined
}
