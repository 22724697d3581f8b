import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { readDockerfile, repository } from '../../ops/docker/test/support/build-stages.js'
import { findOnPath } from '../../packages/local-servers/src/tools/find-on-path.js'
import { buildah, prepareBuildah } from './buildah.js'

const tools = ['buildah', 'debootstrap', 'jq', 'runc']
export const imageOf = (name: string) => `localhost/switchyard/${name}`

/**
 * Builds the images of these services from the Dockerfile, on a base with the same Node. Returns the name of
 * the base.
 */
export async function buildImages(services: string[]): Promise<string> {
  const missing = tools.filter((tool) => findOnPath(tool) === null)
  if (process.getuid?.() !== 0 || missing.length > 0) {
    throw new Error(`images are built and run by root on Debian: apt-get install ${tools.join(' ')}`)
  }
  prepareBuildah()
  const base = await findBase()
  const pinned = `${base.split(':')[0]}@${await buildah('inspect', '--type', 'image', '--format', '{{.FromImageDigest}}', base)}`
  const { stdout: revision } = await execa('git', ['rev-parse', 'HEAD'], { cwd: repository })
  for (const service of services) {
    const given = [`NODE_IMAGE=${pinned}`, `REVISION=${revision}`, `SERVICE=${service}`].flatMap((text) => [
      '--build-arg',
      text,
    ])
    // Only Docker's format has health checks.
    const options = ['--isolation', 'chroot', '--layers', '--pull-never', '--format', 'docker']
    const file = join(repository, 'ops/docker/Dockerfile')
    await buildah('build', ...options, '--file', file, ...given, '--tag', imageOf(service), repository)
  }
  return base
}

/**
 * Builds Node's image from Debian's packages and npm's build of Node, so that no image registry is needed.
 */
async function findBase(): Promise<string> {
  const argument = readDockerfile()
    .getInstructions()
    .find((item) => item.getArgumentsContent()?.startsWith('NODE_IMAGE='))
  const [, version, debian] = /=node:([\d.]+)-(\w+)-slim@/.exec(argument?.getArgumentsContent() ?? '') ?? []
  if (!version || !debian)
    throw new Error('NODE_IMAGE in the Dockerfile does not have the form node:VERSION-DEBIAN-slim@DIGEST')
  const name = `localhost/switchyard-node:${version}-${debian}`
  const present = await buildah('images', '--format', '{{.Name}}:{{.Tag}}')
  if (present.split('\n').includes(name)) return name
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-base-'))
  try {
    const root = join(folder, 'root')
    await execa('debootstrap', ['--variant=minbase', '--include=ca-certificates', debian, root])
    await addNode(folder, root, version)
    const container = await buildah('from', 'scratch')
    await buildah('add', container, root, '/')
    await buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${authorities}`, container)
    await buildah('commit', '--rm', '--format', 'docker', container, name)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return name
}

const authorities = '/etc/ssl/certs/ca-certificates.crt'

/** Adds to `root` what Node's image has besides Debian: Node, npm, and the user `node`. */
async function addNode(folder: string, root: string, version: string): Promise<void> {
  const npmFolder = join(root, 'usr/local/lib/node_modules/npm')
  mkdirSync(npmFolder, { recursive: true })
  const unpack = async (name: string, ...args: string[]) => {
    const { stdout } = await execa('npm', ['pack', '--silent', name], { cwd: folder })
    await execa('tar', ['-xzf', join(folder, stdout.trim()), '--no-same-owner', ...args])
  }
  const { stdout: npmVersion } = await execa('npm', ['--version'])
  await unpack(
    `node-linux-${process.arch}@${version}`,
    '-C',
    join(root, 'usr/local'),
    '--strip-components=1',
    'package/bin/node',
  )
  await unpack(`npm@${npmVersion}`, '-C', npmFolder, '--strip-components=1')
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  await execa('chmod', ['a+x', join(npmFolder, 'bin/npm-cli.js')])
  await execa('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node'])
  // The authorities of this machine, which may trust a proxy.
  cpSync(authorities, join(root, authorities))
  // As in Debian's slim images, apt keeps no lists, packages and caches, and dpkg installs no manuals and
  // documentation.
  await execa('chroot', [root, 'apt-get', 'clean'])
  rmSync(join(root, 'var/lib/apt/lists'), { recursive: true })
  const keepNothing = 'Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache "";\n'
  writeFileSync(
    join(root, 'etc/apt/apt.conf.d/docker-clean'),
    `${keepNothing}APT::Keep-Downloaded-Packages "false";\n`,
  )
  const left = ['doc', 'info', 'lintian', 'locale', 'man'].map(
    (name) => `path-exclude /usr/share/${name}/*\n`,
  )
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/docker'), left.join(''))
}
