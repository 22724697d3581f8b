// Creates the files of a release. The same commit results in the same bytes, on any machine.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runCosign } from './release/cosign.mjs'
import { requireDebian } from './release/debian-packages.mjs'
import { readArguments } from './setup/arguments.mjs'
import { bootstrap, exitWhenStopped, root, run, version } from './setup/bootstrap.mjs'
import { toolsFolder } from './setup/own-node.mjs'
import { partsThatRun } from './setup/setup-parts.mjs'
import { SetupProblem } from './setup/setup-step.mjs'

const { values, operands } = readArguments(
  `pnpm release [--images] [--key KEY] FOLDER
  Makes the files of a release in FOLDER, which is new or empty: switchyard-VERSION.tgz for npm, a tarball of each client, the
  manifests for Kubernetes in one file, the list of libraries, the notes, and SHA256SUMS.
  --images   makes an image for amd64 and one for arm64, too, on Debian 12
  --key KEY  signs SHA256SUMS with a private key of cosign, whose password is in COSIGN_PASSWORD`,
  { options: ['images'], settings: ['key'], operands: ['FOLDER'] },
)
// npm and pnpm change the folder; paths are relative to that of the caller.
const fromCaller = (path) => resolve(process.env.INIT_CWD ?? process.cwd(), path)
const folder = fromCaller(operands[0])

const git = (...args) =>
  execFileSync('git', ['-c', `safe.directory=${root}`, '-C', root, ...args], { encoding: 'utf8' }).trim()

/** Returns the content of release.json. */
function describeRelease() {
  if (!existsSync(join(root, '.git')))
    throw new SetupProblem('this folder is no checkout: a release is made from a commit')
  if (git('status', '--porcelain') !== '')
    throw new SetupProblem('the checkout has changes: commit them, since a release is made from a commit')
  return {
    version,
    revision: git('rev-parse', 'HEAD'),
    committed_at: new Date(git('show', '--no-patch', '--format=%cI', 'HEAD')).toISOString(),
  }
}

/** Returns the section of the changelog about this version. */
function readNotes() {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const section = sections.find((text) => text.startsWith(`${version}\n`))
  if (!section) throw new SetupProblem(`CHANGELOG.md says nothing of ${version}`)
  return `# Switchyard ${section}`
}

/** Writes the manifests of the base into one file, on which overlays of users are based. */
async function writeManifests() {
  const { findKubectl } = await import('../packages/local-servers/dist/bundle/kubectl.js')
  const kubectl = await findKubectl(toolsFolder(root), (line) => console.error(`• ${line}`))
  if (!kubectl) throw new SetupProblem('a kubectl with Kustomize 5 is missing, which makes the manifests')
  const manifests = execFileSync(kubectl, ['kustomize', join(root, 'ops/deploy/kubernetes/base')])
  writeFileSync(join(folder, 'kubernetes.yaml'), manifests)
}

async function makeImages(stage, release, sbom) {
  const { writeImages } = await import('./release/stage-images.mjs')
  await writeImages({ root, toolsDir: toolsFolder(root), stage, folder, release, sbom })
}

function sign(key) {
  const file = join(folder, 'SHA256SUMS')
  try {
    runCosign('sign-blob', fromCaller(key), { file, output: `${file}.sig` })
  } catch (error) {
    const isMissing = error.code === 'ENOENT'
    throw new SetupProblem(
      isMissing ? 'cosign is missing, which --key needs' : `cosign: ${error.stderr}`.trim(),
    )
  }
}

await run(async (stop) => {
  const release = describeRelease()
  const isNew = !existsSync(folder) || readdirSync(folder).length === 0
  if (!isNew) throw new SetupProblem(`${folder} has files: name a new folder`)
  if (values.images) requireDebian()
  await bootstrap(stop, { names: partsThatRun(root) })
  exitWhenStopped(stop)
  const { command, stageInstallation } = await import('./release/stage-installation.mjs')
  const { packFolder } = await import('./bundler/tarball.mjs')
  mkdirSync(folder, { recursive: true })
  const stage = mkdtempSync(join(tmpdir(), 'switchyard-release-'))
  try {
    const notes = readNotes()
    const sbom = stageInstallation(root, stage, release)
    writeFileSync(join(folder, `switchyard-${version}.tgz`), await packFolder(stage, new Set([command])))
    writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`)
    writeFileSync(join(folder, 'NOTES.md'), notes)
    if (values.images) await makeImages(stage, release, sbom)
    await writeManifests()
    const clients = join(root, 'services/console/dist/clients')
    for (const name of readdirSync(clients).filter((each) => each.endsWith('.tgz')))
      cpSync(join(clients, name), join(folder, name.replace('.tgz', `-${version}.tgz`)))
    writeFileSync(join(folder, 'SHA256SUMS'), checksums())
    if (values.key) sign(values.key)
    for (const name of readdirSync(folder)) console.log(join(folder, name))
    return 0
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
})

function checksums() {
  const lineOf = (name) =>
    `${createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')}  ${name}\n`
  return readdirSync(folder).sort().map(lineOf).join('')
}
