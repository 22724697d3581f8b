// Adds the parts of an image besides the service to app/sbom.cdx.json: Node, npm packages that come with it
// or lie in packages, and packages of Debian. The argument names the folder of the image's files.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { packagesOf } from './packages-of.mjs'
import { debianComponent, nodeComponent, npmComponent, withComponents } from './sbom.mjs'

const [root] = process.argv.slice(2)
if (!root) throw new Error('usage: list-image FOLDER')

/** Returns the manifests of all packages below a folder that npm, pnpm or yarn has filled. */
function manifestsBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true })
    .map((path) => join(folder, path))
    .filter((path) => /\/(node_modules\/(@[^/]+\/)?|opt\/yarn-v)[^/]+\/package\.json$/.test(path))
}

function debianPackages() {
  const { ID, VERSION_ID } = parseEnv(readFileSync(join(root, 'etc/os-release'), 'utf8'))
  const status = readFileSync(join(root, 'var/lib/dpkg/status'), 'utf8')
  const fieldOf = (paragraph, field) => new RegExp(`^${field}: (.*)$`, 'm').exec(paragraph)?.[1]
  return status
    .split('\n\n')
    .filter((paragraph) => fieldOf(paragraph, 'Status')?.endsWith(' installed'))
    .map((paragraph) => ({
      name: fieldOf(paragraph, 'Package'),
      version: fieldOf(paragraph, 'Version'),
      architecture: fieldOf(paragraph, 'Architecture'),
    }))
    .map((item) => debianComponent(item, `${ID}-${VERSION_ID}`))
}

const manifests = ['app/node_modules', 'usr/local/lib/node_modules', 'opt'].flatMap((folder) =>
  manifestsBelow(join(root, folder)),
)
const file = join(root, 'app/sbom.cdx.json')
const list = withComponents(JSON.parse(readFileSync(file, 'utf8')), [
  ...packagesOf(manifests).map((item) => npmComponent(item)),
  nodeComponent(process.versions.node),
  ...debianPackages(),
])
writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`)
