import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'

export interface Component {
  name: string
  version: string
  purl: string
  licenses?: { expression: string }[]
}

/** Returns the components that an image lists. */
export const listedIn = (files: string): Component[] =>
  JSON.parse(readFileSync(join(files, 'app/sbom.cdx.json'), 'utf8')).components

/** Returns the Debian packages in an image, according to its dpkg: `name version`. */
export async function debianPackagesIn(files: string): Promise<string[]> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the format of dpkg-query
  const format = '${Package} ${Version}\\n'
  const { stdout } = await execa('chroot', [files, 'dpkg-query', '--show', `--showformat=${format}`])
  return stdout.split('\n')
}

/** Returns the npm packages in an image, without those of this workspace: `name version`. */
export async function npmPackagesIn(files: string): Promise<string[]> {
  const folders = ['-regex', '.*/node_modules/\\(@[^/]+/\\)?[^/@]+/package\\.json']
  const { stdout } = await execa('find', [files, '-xdev', ...folders])
  return stdout
    .split('\n')
    .filter((path) => path !== '' && !path.includes('/node_modules/@switchyard/'))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')) as { name?: string; version?: string })
    .filter(({ name, version }) => name && version)
    .map(({ name, version }) => `${name} ${version}`)
}

/** Licences under which a program with the MIT licence may ship a library, with its notice. */
const compatible = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
])

/** Returns whether a licence, or one of several alternatives, is compatible with MIT. */
export const isCompatible = ({ licenses = [] }: Component): boolean =>
  licenses.some(({ expression }) =>
    expression
      .replaceAll(/[()]/g, '')
      .split(' OR ')
      .some((choice) => choice.split(' AND ').every((name) => compatible.has(name))),
  )
